#!/bin/bash
# dbus-broker 33 names its launcher as the process of the bus, not the process that passes the messages.
#
# Seen with Debian 12's package 33-1: GetConnectionUnixProcessID of org.freedesktop.DBus returns dbus-broker-launch,
# whose child dbus-broker reads and writes every message. dbus-daemon returns itself. A service that looks into the
# process of the bus to decide whether it trusts the bus looks into another program. Needs unshare, busctl and
# dbus-daemon; the programs are found below /usr/bin only inside of a mount namespace, which has the package laid over it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download --quiet --quiet dbus-broker=33-1 2>/dev/null)
dpkg-deb --extract "$work"/dbus-broker_33-1_*.deb "$work/package"
cat >"$work/bus.conf" <<'XML'
<busconfig>
  <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/></policy>
</busconfig>
XML
cat >"$work/ask.py" <<'PYTHON'
import os
import socket
import subprocess
import sys

work = sys.argv[1]
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.bind("/run/systemd/journal/socket")


def named(address):
    """The process that the bus names as its own."""
    call = ["org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", "org.freedesktop.DBus"]
    said = subprocess.check_output(["busctl", f"--address={address}", "call", *call], text=True)
    return int(said.split()[1])


def program(process):
    with open(f"/proc/{process}/comm") as file:
        return file.read().strip()


def listen(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    return listener


path = f"{work}/broker"
with listen(path) as listener:
    launcher = os.fork()
    if launcher == 0:
        # As systemd starts it.
        os.dup2(listener.fileno(), 3)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), DBUS_SESSION_BUS_ADDRESS=f"unix:path={path}")
        arguments = ["dbus-broker-launch", "--scope", "user", "--config-file", f"{work}/bus.conf"]
        os.execv("/usr/bin/dbus-broker-launch", arguments)
process = named(f"unix:path={path}")
with open(f"/proc/{launcher}/task/{launcher}/children") as file:
    children = [program(child) for child in file.read().split()]
print(f"dbus-broker 33-1: the bus names {program(process)}, whose child is {', '.join(children)}")
assert process == launcher and program(process) == "dbus-broker-lau" and children == ["dbus-broker"]
os.kill(launcher, 15)
os.waitpid(launcher, 0)

daemon = subprocess.Popen(
    ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={work}/daemon"],
    stdout=subprocess.PIPE,
    text=True,
)
process = named(daemon.stdout.readline().strip())
version = subprocess.check_output(["dbus-daemon", "--version"], text=True).split("\n")[0]
print(f"{version}: the bus names {program(process)}")
assert process == daemon.pid
daemon.terminate()
daemon.wait()
PYTHON
# shellcheck disable=SC2016  # for the shell that is started
unshare --mount --map-root-user bash -euo pipefail -c '
    mount -t overlay overlay -o "lowerdir=$1/package/usr/bin:/usr/bin" /usr/bin
    mkdir -p /run/systemd
    mount -t tmpfs tmpfs /run/systemd
    mkdir /run/systemd/journal
    exec python3 "$1/ask.py" "$1" 2>"$1/log"' bash "$work" || { cat "$work/log" >&2; exit 1; }
