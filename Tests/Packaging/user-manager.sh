#!/bin/bash
# user-manager.sh SESSION PREFIX CGROUP...: runs the script SESSION beside this one in a session with a systemd user
# manager and the units installed at PREFIX, and logs the user in as root with the program in PREFIX/test, if there is
# one.
#
# Runs in its own mount and process namespaces. Prints KEY=VALUE lines; exits with 77 if no manager can run.
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../Scripts/support.sh"
session=$1 prefix=$2
groups=("${@:3}")
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
sed -i "s|$prefix|/run/installed|g" /run/installed/share/keychaind/*.service /run/installed/lib/systemd/user/*.service
mkdir -p /run/systemd/user
cp /run/installed/lib/systemd/user/* /run/systemd/user
if [[ -d /run/installed/test ]]; then sed -i "s|$prefix|/run/installed|g" /run/installed/test/pam.d/login; fi
chmod -R a+rX /run/installed /run/systemd

# Only services of the user and of keychaind's own switch: nobody else's.
XDG_RUNTIME_DIR=/run/user/$user bus_configuration "/run/user/$user/home/.local/share/dbus-1/services" |
    sed 's|</servicedir>|&<servicedir>/run/services</servicedir>|' >/run/bus.conf
mkdir /run/services

# The manager connects only to a bus that it runs itself.
bus_units --config-file=/run/bus.conf

declare -f eventually >/run/session.sh
cat >>/run/session.sh <<'SESSION'
set -euo pipefail
mkdir -p "$HOME/.local/share/dbus-1/services" "$HOME/.config/systemd/user"
# Without /etc, where the machine may configure another bus.
mkdir "$XDG_RUNTIME_DIR/units"
export SYSTEMD_UNIT_PATH=$HOME/.config/systemd/user:$XDG_RUNTIME_DIR/units:/run/systemd/user:/usr/lib/systemd/user
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

SESSION
cat "$(dirname "${BASH_SOURCE[0]}")/$session" >>/run/session.sh
log_in() {
    eventually test -e "/run/user/$user/ready"
    printf 'password\n' | /run/installed/test/login /run/installed/test/pam.d login "$(id -nu $user)" \
        authenticate open | sed 's/^/login-/'
    touch /run/user/logged-in
}
if [[ -d /run/installed/test ]]; then
    cp /run/installed/share/keychaind/org.freedesktop.secrets.service /run/services
    log_in &
else
    cp /usr/share/dbus-1/services/org.freedesktop.secrets.service /run/services
fi
# What has been installed is as the package manager leaves it, but for a test that uninstalls it.
chown "$user" /run/installed/bin
setpriv --reuid "$user" --regid "$user" --clear-groups env -i PATH="$PATH" HOME=/run/user/$user/home \
    XDG_RUNTIME_DIR=/run/user/$user DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$user/bus bash /run/session.sh
wait
