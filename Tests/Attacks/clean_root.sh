#!/bin/bash
# clean_root.sh WORK SCRIPT: runs a script as root in a private copy of this system with keychaind installed, where an
# ordinary user, anna, has a session, a fingerprint reader and a screen. The copy is removed after the script.
#
# Exits with 77 if no copy can be made.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export project=${here%/*/*} work=$1
script=$2

if [[ -z ${CLEAN_ROOT:-} ]]; then
    [[ $EUID -eq 0 ]] || { echo "takes root"; exit 77; }
    export CLEAN_ROOT=outside
    exec unshare --mount --pid --fork --mount-proc --kill-child --propagation private bash "$0" "$@"
fi

if [[ $CLEAN_ROOT == outside ]]; then
    mount -t tmpfs tmpfs "$work"
    mkdir "$work/upper" "$work/inner" "$work/system"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/inner" "$work/system" ||
        { echo "needs a kernel with overlay file systems"; exit 77; }
    mount -t proc proc "$work/system/proc"
    mount --rbind /dev "$work/system/dev"
    mount --rbind /sys "$work/system/sys"
    mount -t tmpfs -o mode=755 tmpfs "$work/system/run"
    mount -t tmpfs -o mode=1777 tmpfs "$work/system/tmp"
    # The project may be in one of these.
    mkdir -p "$work/system$project"
    mount --bind "$project" "$work/system$project"
    exec chroot "$work/system" env CLEAN_ROOT=inside bash "$here/clean_root.sh" /tmp/work "$script"
fi

# shellcheck source=Tests/Scripts/support.sh
source "$project/Tests/Scripts/support.sh"
mkdir -m 711 "$work"
export scripts=$here NO_COLOR=1
unset "${!XDG_@}" DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY NOTIFY_SOCKET JOURNAL_STREAM

# The attacks use python3-dbus and files of the project; anna can only read them.
install -d -m 755 "$work/attacks"
install -m 644 "$here"/*.py "$work/attacks"

make --no-print-directory -C "$project" install BUILD="$(basename "${KEYCHAIND%/*}")" PREFIX=/usr/local >"$work/make.log" 2>&1 ||
    { echo "make install: $(tail -n 3 "$work/make.log")"; exit 1; }
# As `keychainctl switch on --all` does: the installation alone makes keychaind nobody's provider.
install -d /usr/local/share/dbus-1/services
ln -s /usr/local/share/keychaind/org.freedesktop.secrets.service /usr/local/share/dbus-1/services

useradd --create-home --shell /bin/bash anna
anna_id=$(id -u anna)
install -d -m 755 /run/user
install -d -m 700 -o anna -g anna "/run/user/$anna_id"
as_anna() {
    setpriv --reuid anna --regid anna --init-groups --reset-env env HOME=/home/anna XDG_RUNTIME_DIR="/run/user/$anna_id" \
        DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$anna_id/bus" DISPLAY="$display" GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 \
        PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

# The system bus with fprintd and polkit. polkit lets an ordinary user verify a finger, as for a local session.
install -d -m 755 /run/dbus
dbus-daemon --system --nofork 2>"$work/system-bus.log" &
eventually test -S /run/dbus/system_bus_socket
install -d /etc/polkit-1/rules.d
cat >/etc/polkit-1/rules.d/10-test.rules <<'RULE'
polkit.addRule(function(action) { if (action.id == "net.reactivated.fprint.device.verify") return polkit.Result.YES; });
RULE
/usr/lib/polkit-1/polkitd --no-debug >"$work/polkitd.log" 2>&1 &
install -d "$work/fingers"
FP_VIRTUAL_DEVICE_STORAGE=$work/reader FP_DRIVERS_WHITELIST=virtual_device_storage STATE_DIRECTORY=$work/fingers \
    /usr/libexec/fprintd -t >"$work/fprintd.log" 2>&1 &
eventually dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner string:net.reactivated.Fprint
eventually dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner string:org.freedesktop.PolicyKit1
/usr/bin/python3 "$here/reader.py" "$work/reader" enrol anna

# anna's session, on the screen of an X server of root's.
screen() { # on|off: whether it is in front, by logind's file
    install -d /run/systemd/sessions
    printf '%s\n' "UID=$anna_id" ACTIVE="$([[ $1 == off ]]; echo $?)" STATE=active REMOTE=0 TYPE=x11 CLASS=user SEAT=seat0 \
        >/run/systemd/sessions/1
}
screen on
Xvfb -displayfd 1 -screen 0 800x600x24 -nolisten tcp >"$work/display" 2>"$work/xvfb.log" &
eventually test -s "$work/display"
display=:$(<"$work/display")
as_anna dbus-daemon --session --address="unix:path=/run/user/$anna_id/bus" --nofork 2>"$work/bus.log" &
eventually as_anna dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId

# shellcheck source=/dev/null
source "$script"
