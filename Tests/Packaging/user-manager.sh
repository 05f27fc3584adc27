#!/bin/bash
# user-manager.sh PREFIX CGROUP...: runs the unit installed at PREFIX in a systemd user manager, and logs the user in as
# root with the program and PAM configuration in PREFIX/test.
#
# Runs in its own mount and process namespaces. Prints KEY=VALUE lines; exits with 77 if no manager can run.
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../Scripts/support.sh"
prefix=$1
groups=("${@:2}")
user=65534

for group in "${groups[@]}"; do
    echo $$ >"$group/cgroup.procs"
    chown -R "$user" "$group"
done

# The manager checks that systemd booted the system.
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user
install -d -m 700 -o "$user" -g "$user" /run/user/$user
cp -r "$prefix" /run/installed
sed -i "s|$prefix|/run/installed|" /run/installed/share/dbus-1/services/*.service
mkdir -p /run/systemd/user
sed "s|$prefix|/run/installed|" "$prefix/lib/systemd/user/keychaind.service" >/run/systemd/user/keychaind.service
cp "$prefix/lib/systemd/user/keychaind.socket" /run/systemd/user
sed -i "s|$prefix|/run/installed|g" /run/installed/test/pam.d/login
chmod -R a+rX /run/installed /run/systemd

XDG_RUNTIME_DIR=/run/user/$user bus_configuration /run/installed/share/dbus-1/services >/run/bus.conf

# The manager connects only to a bus that it runs itself.
cat >/run/systemd/user/dbus.socket <<UNIT
[Socket]
ListenStream=%t/bus
UNIT
cat >/run/systemd/user/dbus.service <<UNIT
[Unit]
Requires=dbus.socket
[Service]
ExecStart=$(command -v dbus-daemon) --config-file=/run/bus.conf --address=systemd: --nofork --systemd-activation
UNIT

declare -f eventually >/run/session.sh
cat >>/run/session.sh <<'SESSION'
set -euo pipefail
mkdir "$HOME"
# Without /etc, where the machine may configure another bus.
export SYSTEMD_UNIT_PATH=/run/systemd/user:/usr/lib/systemd/user
/lib/systemd/systemd --user --log-target=console --log-level=notice --unit=dbus.service &
manager=$!
cannot_run() { ! kill -0 "$manager" 2>/dev/null || systemctl --user is-failed --quiet dbus.service; }
has_bus_or_cannot() { systemctl --user is-active --quiet dbus.service || cannot_run; }
if ! eventually has_bus_or_cannot; then
    echo "the user manager does not get ready"
    exit 1
fi
# A slow machine is no reason to skip the test: skip only if the manager itself gave up.
if cannot_run || ! systemd-run --user --quiet --wait true; then
    echo "no user manager can run here"
    exit 77
fi

show() { systemctl --user show --property="$1" --value keychaind.service; }
is_active() { [[ $(show ActiveState) == active ]]; }
has_restarted() { [[ $(show NRestarts) == 1 ]] && is_active; }

# The collection `session` needs no password.
printf 'kept in memory' | secret-tool store --collection=session --label=l name value
echo "lookup=$(secret-tool lookup name value)"
echo "state=$(show ActiveState)"
[[ $(show Type) != notify ]] || echo "notified=yes"
process=$(show MainPID)
sed -n 's/^NoNewPrivs:\t/no-new-privileges=/p; s/^Seccomp:\t/seccomp=/p' "/proc/$process/status"
cmp -s "/proc/$process/uid_map" /proc/self/uid_map && echo "same-user-namespace=yes"

locked() { busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.Secret.Collection Locked; }
systemctl --user stop keychaind.service
echo "stopped=$(show ActiveState)"
touch "$XDG_RUNTIME_DIR/ready"
eventually test -e /run/user/logged-in
eventually is_active || true
echo "started-by-login=$(show ActiveState)"
echo "locked-after-login=$(locked)"
printf 'kept on disk' | secret-tool store --label=l kind kept
before=$(show MainPID)
systemctl --user restart keychaind.service
[[ $(show MainPID) == "$before" ]] || echo "restarted=yes"
echo "after-restart=$(secret-tool lookup kind kept)"
systemctl --user restart keychaind.service
echo "after-second-restart=$(secret-tool lookup kind kept)"
kill -KILL "$(show MainPID)"
eventually has_restarted || true
echo "locked-after-crash=$(locked)"
# More than systemd's usual limit of starts.
for _ in {1..7}; do
    kill -KILL "$(show MainPID)"
    echo "after-crashes=$(locked || true)"
done
systemctl --user stop keychaind.service
echo "result=$(show Result)"
SESSION
log_in() {
    eventually test -e "/run/user/$user/ready"
    printf 'password\n' | /run/installed/test/login /run/installed/test/pam.d login "$(id -nu $user)" \
        authenticate open | sed 's/^/login-/'
    touch /run/user/logged-in
}
log_in &
setpriv --reuid "$user" --regid "$user" --clear-groups env -i PATH="$PATH" HOME=/run/user/$user/home \
    XDG_RUNTIME_DIR=/run/user/$user DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$user/bus bash /run/session.sh
wait
