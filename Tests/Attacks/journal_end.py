#!/usr/bin/python3
"""Damages each block of the journal of a killed keychaind: journal_end.py KEYCHAIND FOLDER [N]

With N only each Nth block. Several items were created without a pause, so that they are only in the journal. What was
acknowledged is there, or its loss is told; without damage nothing is told. The same for the journal of `state.db`: its
damage is told, and a protected item stays so.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

from jeepney import MatchRule, message_bus
from jeepney.io.blocking import open_dbus_connection

from secrets_client import BUS_NAME, LOGIN, SCHEMA, Client, Refused

PROTECTED = {"keychain:access-control": "userPresence"}


class Run:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.data, self.crash = self.folder / "data", self.folder / "crash"
        self.process = None
        self.failures = 0

    def start(self):
        rule = MatchRule(type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged")
        rule.add_arg_condition(0, BUS_NAME)
        with open_dbus_connection("SESSION") as bus, bus.filter(rule) as owners:
            bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=60)
            self.process = subprocess.Popen(
                [self.program, "--unlock", "--data-dir", str(self.data), "--prompters", "gcr"],
                stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )
            self.process.stdin.write(b"p")
            self.process.stdin.close()
            # The end of the former owner is such a signal, too.
            while not bus.recv_until_filtered(owners, timeout=60).body[2]:
                pass
        client = Client()
        # The answer comes once the key is derived.
        if client.get(LOGIN, "Collection", "Locked"):
            raise RuntimeError("login is locked")
        return client

    def kill(self):
        self.process.kill()
        self.process.wait()

    def problem(self, client):
        return client.get(LOGIN, "org.keychaind.Collection1", "Problem")

    def prepare(self, count):
        """Leaves a crash whose keychain has its latest items only in the journal; returns their names."""
        from cheap_slots import make_cheap
        client = self.start()
        client.create("protected", {"n": "protected", **SCHEMA, **PROTECTED}, "protected")
        client.close()
        self.process.terminate()
        self.process.wait()
        make_cheap(self.data / "login.keychain", b"p")
        shutil.copytree(self.data, self.folder / "whole")
        for _ in range(50):
            shutil.rmtree(self.data)
            shutil.copytree(self.folder / "whole", self.data)
            before = (self.data / "login.keychain").read_bytes()
            client = self.start()
            client.create("more", {"n": "more", **SCHEMA, **PROTECTED}, "more")
            for number in range(count):
                client.create("made", {"n": str(number), **SCHEMA}, f"secret {number}")
            self.kill()
            client.close()
            if (self.data / "login.keychain").read_bytes() == before:
                shutil.copytree(self.data, self.crash)
                return [str(number) for number in range(count)]
        raise TimeoutError("changes without a pause")

    def case(self, name, what, names, damage):
        shutil.rmtree(self.data)
        shutil.copytree(self.crash, self.data)
        path = self.data / name
        bytes_ = bytearray(path.read_bytes())
        old = bytes(bytes_)
        damage(bytes_)
        if bytes(bytes_) == old and what:
            return False
        path.write_bytes(bytes_)
        client = self.start()
        try:
            problem = self.problem(client)
            found = {}
            for number in names:
                for item in client.search({"n": number}):
                    try:
                        found[number] = client.read(item).decode()
                    except Refused:
                        pass
            lost = [number for number in names if number not in found]
            wrong = [number for number in found if found[number] != f"secret {number}"]
            if wrong or lost and not problem or what and not problem or not what and (problem or lost):
                self.fail(f"{what or 'no damage'}: lost {lost}, wrong {wrong}, told {problem!r}")
            for number in ["protected", "more"]:
                for item in client.search({"n": number}):
                    try:
                        client.read(item)
                        self.fail(f"{what}: the protected item is open")
                    except Refused:
                        pass
        finally:
            self.kill()
            client.close()
        return True

    def fail(self, what):
        self.failures += 1
        print(f"FAILED {what}", flush=True)


def acknowledged(index):
    """The bytes of the journal that were acknowledged, by its index."""
    return 32 + struct.unpack_from("=I", index, 16)[0] * (24 + 4096)


def zero(start, size):
    def damage(data):
        data[start:start + size] = bytes(len(data[start:start + size]))
    return damage


def flip(start, _):
    def damage(data):
        data[start + 10] ^= 0x10
    return damage


def swap(start, size):
    def damage(data):
        other = start + 2 * size
        if other + size <= len(data):
            data[start:start + size], data[other:other + size] = data[other:other + size], data[start:start + size]
    return damage


def main():
    program, folder, every = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Faults"))
    os.makedirs(folder, exist_ok=True)
    run = Run(program, folder)
    names = run.prepare(4)
    cases = 0
    for name in ["login.keychain-wal", "state.db-wal"]:
        for _ in range(3):
            cases += run.case(name, "", names, lambda data: None)
        end = acknowledged((run.crash / name.replace("-wal", "-shm")).read_bytes())
        for size in [512, 4096]:
            for start in range(0, end - 10, size * every):
                for damage in [zero, flip, swap]:
                    cases += run.case(
                        name, f"{damage.__name__} {name} {start} {size}", names, damage(start, size)
                    )
    print(f"{cases} cases, {run.failures} failures")
    sys.exit(1 if run.failures else 0)


main()
