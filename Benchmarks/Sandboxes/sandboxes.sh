#!/bin/bash
# sandboxes.sh [KEYCHAIND]: times SearchItems of a program in a sandbox among 10,000 items of others, in Ping. Needs
# bubblewrap and a compiler; the items are in the keychain in memory.
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export KEYCHAIND=${1:-$project/.build/release/keychaind}
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work XDG_DATA_HOME=$work/data HOME=$work DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus
processes=()
trap 'kill "${processes[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
# shellcheck disable=SC2046  # options
cc -O2 -o "$work/search" "$project/Benchmarks/Sandboxes/search.c" $(pkg-config --cflags --libs dbus-1)
dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" 2>/dev/null &
processes+=($!)
until [[ -S $work/bus ]]; do sleep 0.1; done
"$KEYCHAIND" --unlock < <(printf p) 2>/dev/null &
processes+=($!)
PYTHONPATH=$project/Tests/Attacks /usr/bin/python3 - "$work/search" <<'END'
import subprocess
import sys

from sandboxes import *
from secrets_client import *


def times(*command, **options):
    output = subprocess.run([*command, sys.argv[1], "5000"], stdout=subprocess.PIPE, text=True, check=True, **options)
    ping, search = map(float, output.stdout.split())
    return f"Ping {ping:.0f} µs, SearchItems {search:.0f} µs = {search / ping:.2f} × Ping"


host = Client()
for number in range(10_000):
    host.create("foreign", {"service": "shared", "number": str(number)}, "secret", collection=SESSION)
own = Sandbox("org.example.Timed")
own.run("c.create('own', {'service': 'shared'}, 'secret', collection=SESSION)")
text = info("org.example.Timed", "1")
record("1", text)
for attempt in range(3):
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    command = ["bwrap", *ROOT_FOLDERS, "--ro-bind", sys.argv[1], sys.argv[1], "--unshare-pid"]
    command += ["--ro-bind-data", str(reader), "/.flatpak-info", "--"]
    print("in a sandbox:", times(*command, pass_fds=(reader,)))
    os.close(reader)
own.close()
END
