# shellcheck shell=bash disable=SC2154
# In a session with a user manager: from the real gnome-keyring to keychaind, and back; prints KEY=VALUE lines.

control=/run/installed/bin/keychainctl
owner() {
    local process
    process=$(busctl --user status org.freedesktop.secrets 2>/dev/null | sed -n 's/^PID=//p') || true
    [[ -z $process ]] || tr '\0' '\n' <"/proc/$process/cmdline" | head -n 1
}
status_of() {
    local status=0
    "$@" >"$XDG_RUNTIME_DIR/said" 2>&1 || status=$?
    echo "$status: $(grep -E "^keychain" "$XDG_RUNTIME_DIR/said" || true)"
}
files() { (cd "$HOME" && find . -not -path './.cache*' -not -path '*/keyrings*' -not -path './.local/share/keychaind*' -printf '%p %m %l\n' | sort); }

mkdir -p "$HOME/.local/state" "$HOME/.local/share/keyrings"
printf password | gnome-keyring-daemon --daemonize --unlock --components=secrets >/dev/null
printf 'of gnome-keyring' | secret-tool store --label=l name value
# A stand-in for kwalletd6, which calls the provider that was there at its start. It ends as a process does that gets
# little time: its name outlives what can be read of it.
cat >"$HOME/wallets.py" <<'SCRIPT'
import ctypes, dbus.bus, os, signal
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
owner = bus.get_object("org.freedesktop.DBus", "/").GetConnectionUnixProcessID("org.freedesktop.secrets")
with open(f"/proc/{owner}/cmdline") as file, open(os.environ["XDG_RUNTIME_DIR"] + "/wallets", "a") as log:
    log.write(file.read().split("\0")[0] + "\n")
bus.request_name("org.kde.kwalletd6")
def end():
    ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE
    GLib.timeout_add(300, os._exit, 0)
GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, end)
GLib.MainLoop().run()
SCRIPT
printf '[D-BUS Service]\nName=org.kde.kwalletd6\nExec=/usr/bin/python3 %s\n' "$HOME/wallets.py" \
    >"$HOME/.local/share/dbus-1/services/org.kde.kwalletd6.service"
bus_call() { busctl --user --quiet call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus "$@"; }
bus_call ReloadConfig
bus_call StartServiceByName su org.kde.kwalletd6 0
echo "wallets-before=$(tail -n 1 "$XDG_RUNTIME_DIR/wallets")"

files >"$XDG_RUNTIME_DIR/before"
echo "provider=$(owner)"
echo "refused=$(status_of "$control" switch on --now)"
files | cmp -s - "$XDG_RUNTIME_DIR/before" && echo "untouched=yes"

imports=$HOME/.local/state/keychaind/imports
mkdir -p "$imports"
echo '{"version":1,"source":"gnome-keyring","finished":5,"items":1,"copied":1,"same":0,"left":0}' \
    >"$imports/5-gnome-keyring.json"
files >"$XDG_RUNTIME_DIR/before"
echo "on=$(status_of "$control" switch on --now)"
echo "handed-over=$(owner)"
echo "wallets=$(tail -n 1 "$XDG_RUNTIME_DIR/wallets")"
# It owns the name a moment before it tells systemd so; a start waits for the one that is running.
if [[ $(systemctl --user is-active keychaind.service) == activating ]]; then
    systemctl --user start keychaind.service || true
fi
echo "unit=$(systemctl --user is-active keychaind.service)"
echo "status=$(status_of "$control" switch status | cut -d: -f1)"
systemctl --user start gnome-keyring-daemon.service || true
echo "other-unit=$(systemctl --user is-active gnome-keyring-daemon.service)"
echo "enabled=$(systemctl --user is-enabled keychaind.service)"

# As PAM starts it at a login.
queue() { busctl --user call org.freedesktop.DBus / org.freedesktop.DBus ListQueuedOwners s org.freedesktop.secrets; }
waits() { [[ $(queue) == "as 2 "* ]]; }
gnome-keyring-daemon --foreground --components=secrets --control-directory="$XDG_RUNTIME_DIR/waiting" >/dev/null 2>&1 &
waiting=$!
eventually waits && echo "waits=yes"
systemctl --user restart keychaind.service
echo "kept=$(owner)"
wait "$waiting" || true
echo "ended=yes"

# An update or a crash of systemd's manager changes nothing; an uninstallation does.
mv /run/installed/bin/keychaind /run/installed/bin/away
systemctl --user stop keychaind.service
systemctl --user start gnome-keyring-daemon.service || true
echo "uninstalled=$(systemctl --user is-active gnome-keyring-daemon.service)"
systemctl --user stop gnome-keyring-daemon.service gnome-keyring-daemon.socket
mv /run/installed/bin/away /run/installed/bin/keychaind

# A file that is no keychain.
mkdir -p "$HOME/.local/share/keychaind"
echo broken >"$HOME/.local/share/keychaind/broken.keychain"
systemctl --user start keychaind.service
"$control" doctor >"$XDG_RUNTIME_DIR/said" || echo "doctor=$?: $(grep "broken" "$XDG_RUNTIME_DIR/said")"
systemctl --user stop keychaind.service
rm "$HOME/.local/share/keychaind/broken.keychain"

echo "off=$(status_of "$control" switch off | cut -d: -f1)"
files | diff "$XDG_RUNTIME_DIR/before" - && echo "restored=yes"
echo "lookup=$(printf password | gnome-keyring-daemon --replace --daemonize --unlock --components=secrets >/dev/null &&
    secret-tool lookup name value)"
echo "back=$(owner)"
