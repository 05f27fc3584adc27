#!/usr/bin/python3
"""unknown_change.py KEYCHAIND FAULTS.SO FOLDER: changes that `login` may have or not, as each sync of it fails.

Their callers are told that it is unknown whether they are stored: a kill now may leave them in the file. They are not in
memory, so no signal reports them, and they are overwritten once the disk works.
"""

import itertools
import sys

from faults import (
    BACKUPS, BACKUPS_INTERFACE, LOGIN, SCHEMA, SECRET, Refused, Run, back_up, change, create, delete, eventually, item,
    open_work,
)  # fmt: skip
from jeepney import MatchRule, MessageType, message_bus
from jeepney.wrappers import unwrap_msg
from secrets_client import Client

# More syncs than a change needs.
ATTEMPTS = 1000


def create_another(client):
    client.create("another", {"n": "another", **SCHEMA}, "another")


def replace(client):
    client.create("replaced", {"n": "2", **SCHEMA}, "replaced")


def rename(client):
    client.set(item(client, "0"), "Item", "Label", "s", "renamed")


def change_attributes(client):
    client.set(item(client, "0"), "Item", "Attributes", "a{ss}", {"n": "0", "changed": "yes", **SCHEMA})


def change_type(client):
    client.set(item(client, "0"), "Item", "Type", "s", "org.example.Changed")


def rename_collection(client):
    client.set(LOGIN, "Collection", "Label", "s", "Renamed")


def put_back(client):
    """Puts an item of the last backup back; the answer names what was not stored."""
    if client.call(BACKUPS, BACKUPS_INTERFACE, "RestoreItems", "sas", "backup:login.keychain", ["past"])[1]:
        raise Refused("unknown")


CHANGES = [
    create_another, replace, change, rename, change_attributes, change_type, delete, rename_collection, put_back,
]  # fmt: skip


class Listener:
    """Another program, which hears the signals of items and collections."""

    def __init__(self):
        self.client = Client()
        self.signals = []
        for interface in ["Collection", "Service"]:
            rule = MatchRule(type=MessageType.signal.name, interface=SECRET + interface)
            unwrap_msg(self.client.connection.send_and_get_reply(message_bus.AddMatch(rule)))
            self.client.connection.filter(rule, queue=self.signals)

    def heard(self):
        """The members of the signals since the last call."""
        # Its answer comes after all signals that were sent before.
        self.client.get(LOGIN, "Collection", "Locked")
        members = [signal.header.fields[3] for signal in self.signals]
        self.signals.clear()
        return members


def case(run, client, listener, make):
    """What is wrong with a change that is answered with `unknown`."""
    for number in itertools.count(1):
        listener.heard()
        before = look(client)
        run.faults.arm(run.data / "login.keychain", "sync", number, "fail", repeat=ATTEMPTS)
        try:
            make(client)
            answer = "stored"
        except Refused as refusal:
            answer = "unknown" if "unknown" in repr(refusal) else "refused"
        is_reached = run.faults.disarm() > 0
        heard = [member for member in listener.heard() if member.startswith(("Item", "Collection"))]
        # Settles what is stored.
        next_item = client.create("next", {"n": "next", **SCHEMA}, "next")[0]
        client.call(next_item, SECRET + "Item", "Delete")
        if not is_reached or answer == "stored":
            return [f"sync {number}: {answer}, so nothing was unknown"]
        if heard or look(client) != before:
            return [f"sync {number}: {answer}, with the signals {heard}, and {look(client)} instead of {before}"]
        if answer == "unknown":
            return []
    return []


def look(client):
    items = {path: client.get(path, "Item", "Attributes") for path in client.get(LOGIN, "Collection", "Items")}
    labels = [client.get(path, "Item", "Label") for path in items]
    return client.get(LOGIN, "Collection", "Label"), labels, items, [client.read(path) for path in items]


def main():
    run = Run(*sys.argv[1:])
    try:
        run.reset()
        run.faults.watch(run.data / "login.keychain")
        daemon = run.start()
        daemon.wait()
        eventually("login", lambda: not daemon.client.get(LOGIN, "Collection", "Locked"))
        open_work(daemon.client)
        create(daemon.client)
        daemon.client.create("past", {"n": "past", **SCHEMA}, "past")
        back_up(daemon.client)
        daemon.client.call(item(daemon.client, "past"), SECRET + "Item", "Delete")
        listener = Listener()
        failures = [
            f"FAILED {make.__name__}: {problem}"
            for make in CHANGES
            for problem in case(run, daemon.client, listener, make)
        ]
        before = look(daemon.client)
        daemon.kill()
        daemon = run.start()
        daemon.wait()
        eventually("login", lambda: not daemon.client.get(LOGIN, "Collection", "Locked"))
        if look(daemon.client) != before:
            failures.append(f"FAILED after a kill: {look(daemon.client)} instead of {before}")
        daemon.kill()
    finally:
        run.end()
    print(*failures, f"{len(CHANGES)} cases, {len(failures)} failures", sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
