"""thresholds.py count | trace FILE: what a call costs, in units that do not depend on the machine's speed.

`count` needs a keychaind that runs under callgrind, with collecting off, and prints instructions and allocations. `trace`
makes the calls while strace writes the system calls of keychaind to FILE, and prints syncs, written bytes and messages.
`compare MEASURED` compares with thresholds.json, and fails if something costs more. `update MEASURED` writes that file.
"""

import json
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "Attacks"))
from secrets_client import *  # noqa: E402

KNOWN = os.path.join(FOLDER, "thresholds.json")
ITEMS = 200
ROUNDS = 3
# How much more a call may cost, as a part and at least. Instructions vary with versions of libraries and features of
# the processor. Compaction falls into some calls.
TOLERANCE = {
    "instructions": (0.15, 0), "allocations": (0.05, 1), "bytes": (0.1, 1000), "syncs": (0, 0.2), "messages": (0, 0.2),
}  # fmt: skip
WRITES = {"write", "pwrite64", "pwritev", "writev"}
SYNCS = {"fsync", "fdatasync", "syncfs", "sync_file_range", "msync"}


class Calls:
    """The calls that are measured, by name: an action, and how often."""

    def __init__(self):
        self.client = Client()
        # Under valgrind, on a busy machine, its key may be derived for longer than calls wait.
        eventually("the keychain", lambda: not self.client.get(LOGIN, "Collection", "Locked"), 300)
        self.count = 0
        self.items = [self.add() for _ in range(ITEMS)]
        service = SECRET + "Service"
        self.all = {
            "GetSecret": (lambda: self.client.read(self.items[7]), 200),
            "GetSecrets of 100": (
                lambda: self.client.call(ROOT, service, "GetSecrets", "aoo", self.items[:100], self.client.session),
                20,
            ),
            "SearchItems": (lambda: self.client.search({"number": "7"}), 200),
            "GetAll of an item": (
                lambda: self.client.call(
                    self.items[7], "org.freedesktop.DBus.Properties", "GetAll", "s", SECRET + "Item"
                ),
                200,
            ),
            "CreateItem": (self.add, 50),
            "SetSecret": (self.change, 50),
            "Delete": (lambda: self.client.call(self.items.pop(), SECRET + "Item", "Delete"), 50),
        }  # fmt: skip

    def add(self):
        self.count += 1
        number = str(self.count)
        item = self.client.create(f"Item {number}", {**SCHEMA, "number": number}, f"secret {number}", replace=False)[0]
        if hasattr(self, "items"):
            self.items.append(item)
        return item

    def change(self):
        self.count += 1
        secret = self.client.secret(f"changed {self.count}")
        self.client.call(self.items[7], SECRET + "Item", "SetSecret", "(oayays)", secret)

    def settle(self):
        """Waits until what was asked before has been answered."""
        self.client.call(ROOT, "org.freedesktop.DBus.Peer", "Ping")


def control(*arguments):
    subprocess.run(["callgrind_control", *arguments, os.environ["daemon_pid"]], check=True, stdout=subprocess.DEVNULL)


def counted(dump):
    """The instructions and the calls of malloc and its kin in a dump of callgrind."""
    with open(dump) as file:
        text = file.read()
    instructions = max(int(number) for number in re.findall(r"^(?:summary|totals): (\d+)", text, re.M))
    names = dict(re.findall(r"^c?fn=\((\d+)\) (.+)$", text, re.M))
    allocator = re.compile(r"(malloc|calloc|realloc|posix_memalign|aligned_alloc)('\d+)?")
    allocating = {number for number, name in names.items() if allocator.fullmatch(name)}
    allocations = 0
    for number, calls in re.findall(r"^fn=\((\d+)\).*\n((?:(?!fn=).*\n)*)", text, re.M):
        # The daemon's own malloc and realloc call those of the C library.
        if number not in allocating:
            called = re.findall(r"^cfn=\((\d+)\).*\n(?:c?f[il]=.*\n|cob=.*\n)*calls=(\d+)", calls, re.M)
            allocations += sum(int(count) for callee, count in called if callee in allocating)
    return instructions, allocations


def collected(calls, action, times, folder):
    """The instructions and allocations of an action that is done several times."""
    before = set(os.listdir(folder))
    control("-z")
    control("-i", "on")
    for _ in range(times):
        action()
    calls.settle()
    control("-i", "off")
    control("-d")
    (dump,) = {file for file in os.listdir(folder) if file.startswith("callgrind.out.")} - before
    return counted(f"{folder}/{dump}")


def count(folder):
    calls = Calls()
    figures = {}
    for name, (action, times) in calls.all.items():
        for _ in range(5):
            action()
        calls.settle()
        # What the daemon does now and then falls into one of the rounds.
        rounds = [collected(calls, action, times, folder) for _ in range(ROUNDS)]
        instructions, allocations = map(min, zip(*rounds))
        figures[name] = {"instructions": round(instructions / times), "allocations": round(allocations / times, 1)}
    return figures


def traced(calls, action, times, file):
    """The syncs, written bytes and messages of an action that is done several times."""
    start = os.path.getsize(file)
    for _ in range(times):
        action()
    calls.settle()
    with open(file) as lines:
        lines.seek(start)
        found = re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?: resumed>.*|\(.*)\) += (-?\d+)", lines.read(), re.M)
    syncs = sum(call in SYNCS for call, _ in found)
    written = sum(int(result) for call, result in found if call in WRITES and int(result) > 64)
    messages = sum(call in {"sendmsg", "sendto"} for call, _ in found)
    return syncs, written, messages


def trace(file):
    calls = Calls()
    figures = {}
    for name, (action, times) in calls.all.items():
        for _ in range(5):
            action()
        calls.settle()
        # A busy machine pauses between calls, and in a pause the daemon rewrites the file: in one of the rounds.
        rounds = [traced(calls, action, times, file) for _ in range(ROUNDS)]
        counts = dict(zip(("syncs", "bytes", "messages"), map(min, zip(*rounds))))
        figures[name] = {unit: round(value / times, 1) for unit, value in counts.items()}
    return figures


def read(file):
    with open(file) as text:
        return json.load(text)


def compare(measured):
    known = read(KNOWN)
    for call, figures in measured.items():
        for unit, value in figures.items():
            bound = known[call][unit]
            part, least = TOLERANCE[unit]
            is_held = value <= bound + max(bound * part, least)
            print(f"{call}, {unit}: {value:,} ({bound:,}): {'held' if is_held else 'MORE'}")


def update(measured):
    known = read(KNOWN) if os.path.exists(KNOWN) else {}
    for call, figures in measured.items():
        known.setdefault(call, {}).update(figures)
    with open(KNOWN, "w") as file:
        json.dump(known, file, indent=2)
        file.write("\n")


match sys.argv[1:]:
    case ["count", folder]:
        print(json.dumps(count(folder)))
    case ["trace", file]:
        print(json.dumps(trace(file)))
    case ["compare", file]:
        compare(read(file))
    case ["update", file]:
        update(read(file))
