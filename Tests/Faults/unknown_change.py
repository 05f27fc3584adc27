#!/usr/bin/python3
"""unknown_change.py KEYCHAIND FAULTS.SO FOLDER: changes after which the disk does not say where `login` is.

Their callers are told that it is unknown whether they are stored. They are in memory, so other programs are told of
them, before their caller is answered.
"""

import itertools
import sys

from faults import (
    BACKUPS, BACKUPS_INTERFACE, LOGIN, SCHEMA, SECRET, Refused, Run, back_up, change, create, delete, eventually, item,
)  # fmt: skip
from jeepney import MatchRule, MessageType, message_bus
from jeepney.wrappers import unwrap_msg
from secrets_client import Client

# More than the looks of a change, and of what keychaind does beside it.
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
    """Puts an item of the last backup back; the answer does not say whether it is unknown that this is stored."""
    if client.call(BACKUPS, BACKUPS_INTERFACE, "RestoreItems", "sas", "backup:login.keychain", ["past"])[1]:
        raise Refused("unknown" if client.search({"n": "past"}) else "refused")


CHANGES = {
    create_another: "ItemCreated", replace: "ItemChanged", change: "ItemChanged", rename: "ItemChanged",
    change_attributes: "ItemChanged", change_type: "ItemChanged", delete: "ItemDeleted",
    rename_collection: "CollectionChanged", put_back: "ItemCreated",
}


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
    """What is wrong with the signals of a change that is answered with `unknown`."""
    for number in itertools.count(1):
        listener.heard()
        run.faults.arm(run.data / "login.keychain", "stat", number, "fail", repeat=ATTEMPTS)
        try:
            make(client)
            answer = "stored"
        except Refused as refusal:
            answer = "unknown" if "unknown" in repr(refusal) else "refused"
        is_reached = run.faults.disarm() > 0
        heard = [member for member in listener.heard() if member.startswith(("Item", "Collection"))]
        # Settles where the path leads.
        client.create("next", {"n": "next", **SCHEMA}, "next")
        if answer == "unknown":
            expected = [CHANGES[make]]
            return [] if heard == expected else [f"unknown, with the signals {heard} instead of {expected}"]
        if not is_reached or answer == "stored":
            return [f"look {number}: {answer}, so nothing was unknown"]
        if heard:
            return [f"look {number}: refused, with the signals {heard}"]
    return []


def main():
    run = Run(*sys.argv[1:])
    try:
        run.reset()
        daemon = run.start()
        daemon.wait()
        eventually("login", lambda: not daemon.client.get(LOGIN, "Collection", "Locked"))
        # Copies the file of before, which looks at it, too.
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
        daemon.kill()
    finally:
        run.end()
    print(*failures, f"{len(CHANGES)} cases, {len(failures)} failures", sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
