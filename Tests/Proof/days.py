#!/usr/bin/python3
"""Weeks of use in minutes: days.py KEYCHAIND FAULTS.SO FOLDER [--days N] [--seed N]

One daemon on a private bus, with a clock that jumps from one busy hour to the next. Each day programs come, use their
items and go, some without a word and some with a dialog open; the screen locks; the machine sleeps; the clock is now
and then wrong; backups are made and restored; the daemon is restarted or killed. Each evening everything is compared
with what was acknowledged, and what the daemon uses is measured.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Faults"))
from faults import BACKUPS, BACKUPS_INTERFACE, WORK, Daemon, Faults, problem_of, restore  # noqa: E402
from secrets_client import (  # noqa: E402
    LOGIN, MASTER_PASSWORDS, ROOT, SCHEMA, SECRET, Client, Refused, eventually,
)  # fmt: skip

HOUR, DAY = 3600, 24 * 3600
PROGRAMS, CALLS = 100, 12
# How many items a person keeps in each keychain, about.
ITEMS = 60
PASSWORDS = {LOGIN: "p", WORK: "work"}
# The growth between the first and the last evening of a daemon's life that is no leak.
TOLERANCE = {"descriptors": 2, "threads": 2, "KiB in memory": 6 * 1024}


class Weeks:
    def __init__(self, program, library, folder, seed):
        self.program, self.library = program, library
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        self.random = random.Random(seed)
        self.faults = Faults(self.folder / "control")
        self.model = {LOGIN: {}, WORK: {}}
        self.findings = []
        self.rows = []
        self.calls = self.connections = self.starts = self.next_item = 0
        self.answers = self.folder / "answers"
        self.answers.write_text("agree work\n")
        prompter = pathlib.Path(__file__).resolve().parent.parent / "Attacks/prompter.py"
        self.prompter = subprocess.Popen(
            [sys.executable, str(prompter), str(self.answers), str(self.folder / "asked")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        # Eight in the morning.
        self.now = 1_900_000_000 // DAY * DAY + 8 * HOUR
        self.set_clock()
        # The clock of the day, and the times of files that are synced below this folder.
        self.faults.watch(self.folder)

    def set_clock(self, error=0):
        self.faults.set_clock(int(self.now + error - time.time()))

    def start(self):
        self.starts += 1
        self.daemon = Daemon(self.program, self.library, self.data, self.faults)
        if not self.daemon.wait():
            raise RuntimeError("the daemon does not start")
        eventually("login", lambda: not self.client.get(LOGIN, "Collection", "Locked"))
        if WORK in self.client.get(ROOT, "Service", "Collections"):
            self.unlock(WORK)

    @property
    def client(self):
        return self.daemon.client

    def unlock(self, collection):
        self.client.call(
            ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", collection,
            self.client.secret(PASSWORDS[collection]),
        )

    def first_day(self):
        self.start()
        properties = {SECRET + "Collection.Label": ("s", "Work")}
        self.client.call(
            ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", properties,
            self.client.secret("work"),
        )

    # Programs

    def program_comes(self):
        client = Client()
        self.connections += 1
        if self.random.random() < 0.3:
            # Another session, with keys that are never used.
            key = self.random.randbytes(128)
            algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
            client.call(ROOT, SECRET + "Service", "OpenSession", "sv", algorithm, ("ay", key))
        for _ in range(self.random.randint(1, CALLS)):
            self.call(client)
        if self.random.random() < 0.5:
            client.call(client.session, SECRET + "Session", "Close")
        client.close()

    def call(self, client):
        self.calls += 1
        collection = self.random.choice([LOGIN, LOGIN, WORK])
        items = self.model[collection]
        action = self.random.random()
        if not items or action < (0.3 if len(items) < ITEMS else 0.1):
            self.next_item += 1
            number, secret = str(self.next_item), self.secret()
            client.create("used", {"n": number, **SCHEMA}, secret, collection=collection)
            items[number] = secret
            return
        number = self.random.choice(list(items))
        path, = [path for path in client.search({"n": number}) if path.startswith(collection + "/")]
        if action < 0.7:
            if client.read(path).decode() != items[number]:
                self.findings.append(f"{collection} {number}: another secret was read")
        elif action < 0.85:
            secret = self.secret()
            client.call(path, SECRET + "Item", "SetSecret", "(oayays)", client.secret(secret))
            items[number] = secret
        else:
            client.call(path, SECRET + "Item", "Delete")
            del items[number]

    def secret(self):
        return self.random.randbytes(self.random.choice([8, 16, 40, 400])).hex()

    def program_crashes(self):
        """With a dialog open."""
        self.answers.write_text("silence\n")
        self.client.call(ROOT, SECRET + "Service", "Lock", "ao", [WORK])
        client = Client()
        self.connections += 1
        _, prompt = client.call(ROOT, SECRET + "Service", "Unlock", "ao", [WORK])
        client.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
        client.close()
        self.answers.write_text("agree work\n")
        self.unlock(WORK)

    # The machine and its person

    def screen_locks(self):
        self.client.call(ROOT, SECRET + "Service", "Lock", "ao", [LOGIN, WORK])
        self.now += self.random.randint(60, HOUR)
        self.set_clock()
        for collection in PASSWORDS:
            self.unlock(collection)

    def clock_is_wrong(self):
        self.set_clock(self.random.choice([-400, -2, 400]) * DAY)
        self.program_comes()
        self.set_clock()

    def back_up(self):
        self.client.call(BACKUPS, BACKUPS_INTERFACE, "BackUp")

    def restore(self):
        """Restores a keychain as it was a moment ago."""
        self.back_up()
        past = dict(self.model[WORK])
        for _ in range(5):
            self.program_comes()
        restore(self.client, "Work", "backup")
        self.model[WORK] = past
        self.unlock(WORK)

    def update(self):
        self.daemon.stop()
        self.start()

    def power_off(self):
        self.daemon.kill()
        self.start()

    # A day

    def day(self, number):
        for _ in range(PROGRAMS):
            self.program_comes()
            self.now += self.random.randint(1, HOUR // 8)
            self.set_clock()
        self.screen_locks()
        self.program_crashes()
        if number % 5 == 0:
            self.clock_is_wrong()
        if number % 6 == 0:
            self.restore()
        self.back_up()
        self.evening(number)
        if number % 7 == 0:
            self.power_off()
            self.compare(number, "after SIGKILL")
        elif number % 10 == 0:
            self.update()
            self.compare(number, "after an update")
        # The machine sleeps until eight.
        self.now = self.now // DAY * DAY + DAY + 8 * HOUR
        self.set_clock()

    def compare(self, number, when):
        for collection, items in self.model.items():
            found = {}
            for item in self.client.get(collection, "Collection", "Items"):
                attributes = self.client.get(item, "Item", "Attributes")
                found[attributes.get("n")] = self.client.read(item).decode()
            if found != items:
                differing = sorted(key for key in found.keys() | items.keys() if found.get(key) != items.get(key))
                self.findings.append(f"day {number}, {when}: {collection}: {differing} differ")
            problem = problem_of(self.client, collection)
            if problem:
                self.findings.append(f"day {number}, {when}: {collection}: {problem}")

    def evening(self, number):
        self.compare(number, "in the evening")
        control = pathlib.Path(self.program).with_name("keychainctl")
        check = subprocess.run([control, "check"], capture_output=True, text=True, check=False)
        if check.returncode:
            self.findings.append(f"day {number}: keychainctl check: {check.stdout[-500:]} {check.stderr[-500:]}")
        row = {"day": number, "start": self.starts, **self.use()}
        self.rows.append(row)
        print(json.dumps(row), flush=True)

    def use(self):
        process = pathlib.Path(f"/proc/{self.daemon.process.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        return {
            "KiB in memory": int(status["VmRSS"].split()[0]),
            "threads": int(status["Threads"]),
            "descriptors": len(list((process / "fd").iterdir())),
            "KiB of keychains": sum(path.stat().st_size for path in self.data.glob("*.keychain*")) // 1024,
            "past files": len(list(self.data.glob("*-past-*"))),
            "backups": len(list(self.folder.glob("keychaind/backup/*.keychain"))),
        }

    def check_bounds(self):
        for start in {row["start"] for row in self.rows}:
            rows = [row for row in self.rows if row["start"] == start]
            # The first day fills pools and caches.
            for what, tolerance in TOLERANCE.items():
                growth = rows[-1][what] - rows[0][what]
                if growth > tolerance:
                    self.findings.append(f"start {start}: {growth} more {what} after {len(rows)} days")
        for row in self.rows:
            # Three of each keychain, one of before the last restore, and the present backup.
            if row["past files"] > 7 or row["backups"] > 8:
                self.findings.append(f"too many copies: {row}")
        last = self.rows[-1]
        if last["KiB of keychains"] > 2 * max(row["KiB of keychains"] for row in self.rows[:5]):
            self.findings.append(f"the keychains have grown: {last}")

    def end(self):
        self.daemon.stop()
        self.prompter.terminate()
        self.prompter.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("--days", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    weeks = Weeks(options.program, options.library, options.folder, options.seed)
    weeks.first_day()
    try:
        for number in range(1, options.days + 1):
            weeks.day(number)
        weeks.check_bounds()
    except (Refused, TimeoutError, RuntimeError) as failure:
        weeks.findings.append(f"it ended early: {failure!r}")
    finally:
        weeks.end()
    for finding in weeks.findings:
        print(f"FAILED {finding}")
    print(
        f"{options.days} days: {weeks.connections} connections, {weeks.calls} calls, {weeks.starts} starts,"
        f" {len(weeks.findings)} findings"
    )
    sys.exit(1 if weeks.findings else 0)


main()
