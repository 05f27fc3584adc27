#!/usr/bin/python3
"""Runs keychaind on a disk that fails: faults.py KEYCHAIND FAULTS.SO FOLDER [--every N [--seed N]]
    [--only SCENARIO] [--operation OPERATION] [--mode MODE] [--up-to N]

For each scenario, operation and way of failing, the first, second, … operation of that kind fails until none is left.
With --every N only each Nth case runs, beginning with one that --seed chooses; with --up-to N only the first N of each
kind. The bus is that of the environment.

After each case: what was acknowledged is there, what was refused is not, `unknown` is one of both; the next change works
once the disk does; nothing crashes; and all of that again after a SIGKILL. With the mode `kill` the process ends before the
operation, and all must be there at the next start. With `lie` it must not crash, and must start again.
"""

import argparse
import itertools
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Attacks"))
from cheap_slots import Log, make_cheap  # noqa: E402
from jeepney import DBusErrorResponse, MatchRule, message_bus  # noqa: E402
from jeepney.io.blocking import open_dbus_connection  # noqa: E402
from jeepney.wrappers import unwrap_msg  # noqa: E402
from secrets_client import (  # noqa: E402
    LOGIN, MASTER_PASSWORDS, ROOT, SCHEMA, SECRET, Client, Refused, eventually,
)  # fmt: skip

OPERATIONS = {
    "open": 1, "read": 2, "write": 4, "sync": 8, "truncate": 16, "rename": 32, "unlink": 64, "folder-sync": 128,
    "stat": 256,
}
MODES = {"fail": 1, "short": 2, "torn": 3, "delay": 4, "lie": 5, "kill": 6}
# Only these have bytes, of which half can be read or written.
WITH_BYTES = {"read", "write"}
# A disk that says so and does not: only a sync leaves everything readable as long as the power is there.
HARMLESS_LIES = {"sync", "folder-sync"}
EIO, ENOSPC = 5, 28
# Of a disk that stays broken or full for a while.
LASTING_ERRORS = {"write": [EIO, ENOSPC], "sync": [EIO, ENOSPC], "stat": [EIO]}
WORK = ROOT + "/collection/Work"
BACKUPS, BACKUPS_INTERFACE = "/org/keychaind/Backups", "org.keychaind.Backups1"
YESTERDAY = int(time.time()) - 36 * 3600
# Longer than any other item.
LONG = 3700
LONG_ITEM = {"c": f"c {LONG} times"}


class Faults:
    """The control of faults.so."""

    def __init__(self, path):
        self.path = str(path)
        pathlib.Path(path).write_bytes(bytes(4096))

    def arm(self, folder, operation, number, mode, error=EIO, repeat=1):
        data = str(folder).encode().ljust(512, b"\0")
        operations = sum(OPERATIONS[name] for name in operation.split("+"))
        data += struct.pack("7i", operations, number, MODES[mode], error, repeat, 0, 0)
        self._write(0, data)

    def watch(self, folder):
        """Traces without faults."""
        self._write(0, str(folder).encode().ljust(512, b"\0") + bytes(28))

    def set_clock(self, seconds):
        """Sets the clock of the day of all daemons, in seconds before or after the real one."""
        self._write(544, struct.pack("q", seconds))

    def disarm(self):
        """Returns how many operations have failed."""
        self._write(516, bytes(4))
        with open(self.path, "rb") as file:
            file.seek(536)
            return struct.unpack("i", file.read(4))[0]

    def _write(self, offset, data):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)


class Daemon:
    def __init__(self, program, library, folder, faults, trace=None):
        # The backups are in `keychaind/backup` of this home.
        home = str(pathlib.Path(folder).parent)
        environment = dict(os.environ, LD_PRELOAD=str(library), KEYCHAIND_FAULTS=faults.path, XDG_DATA_HOME=home)
        environment.pop("KEYCHAIND_FAULTS_TRACE", None)
        if trace:
            environment["KEYCHAIND_FAULTS_TRACE"] = str(trace)
        self.log = pathlib.Path(faults.path).with_name("log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "--unlock", "--data-dir", str(folder), "--prompters", "gcr"],
                env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log,
            )
        self.process.stdin.write(b"p")
        self.process.stdin.close()
        self.client = None

    def wait(self):
        """Waits for its objects; false if it has ended."""
        def ready():
            if self.process.poll() is not None:
                return "ended"
            try:
                self.client = self.client or Client()
                if self.client.process() == self.process.pid:
                    self.client.daemon = self
                    self.client.get(ROOT, "Service", "Collections")
                    return "ready"
            except Exception:  # noqa: BLE001  # not there yet
                self.client = None
            return None
        return eventually("the daemon", ready) == "ready"

    def kill(self):
        """Ends it at once; returns the signal of which it had died before, if any."""
        status = self.process.poll()
        if self.client:
            self.client.close()
            self.client = None
        if status is None:
            self.process.kill()
            self.process.wait()
            return None
        return -status if status < 0 else None

    def stop(self):
        if self.client:
            self.client.close()
            self.client = None
        self.process.terminate()
        self.process.wait()


# What a keychain has: {"login": {number: secret}, "work": None or (password, {number: secret}), "new": bool}


def contents(client, collection):
    items = client.get(collection, "Collection", "Items")
    found = {}
    for item in items:
        attributes = client.get(item, "Item", "Attributes")
        secret = client.read(item).decode()
        found[attributes.get("n")] = secret if len(secret) < 100 else f"{secret[0]} {len(secret)} times"
    return found


def open_work(client):
    """Unlocks Work; returns its password."""
    for password in ["work", "other"]:
        try:
            client.call(
                ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", WORK, client.secret(password)
            )
            return password
        except Refused as error:
            last = error
    raise last


def state(client):
    paths = client.get(ROOT, "Service", "Collections")
    client.call(ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", LOGIN, client.secret("p"))
    work = None
    if WORK in paths:
        # An open one takes any password.
        client.call(ROOT, SECRET + "Service", "Lock", "ao", [WORK])
        password = open_work(client)
        work = (password, contents(client, WORK))
    found = {"login": contents(client, LOGIN), "work": work, "new": any("New" in path for path in paths)}
    return found, lasting_problems(client, paths)


def lasting_problems(client, paths):
    """What keychaind still says after it has had the time to find out that the disk works."""
    def problems():
        return [problem for problem in (problem_of(client, path) for path in paths) if problem]
    try:
        # A damage does not pass; a file that the disk has not returned is taken for damaged until it does.
        eventually(
            "no problem",
            lambda: all("keychainctl salvage" in each and "tried again" not in each for each in problems()),
            seconds=120,
        )
        return problems()
    except TimeoutError:
        return problems()


def problem_of(client, path):
    return client.get(path, "org.keychaind.Collection1", "Problem")


def item(client, number, collection=LOGIN):
    found = [path for path in client.search({"n": number}) if path.startswith(collection)]
    return found[0]


def create(client):
    client.create("made", {"n": "made", **SCHEMA}, "made")


def change(client):
    client.call(item(client, "1"), SECRET + "Item", "SetSecret", "(oayays)", client.secret("changed"))


def delete(client):
    client.call(item(client, "1"), SECRET + "Item", "Delete")


def create_collection(client):
    properties = {SECRET + "Collection.Label": ("s", "New")}
    client.call(
        ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", properties, client.secret("new")
    )


def delete_collection(client):
    client.call(WORK, SECRET + "Collection", "Delete")


def change_password(client):
    client.call(
        ROOT, MASTER_PASSWORDS, "ChangeWithMasterPassword", "o(oayays)(oayays)",
        WORK, client.secret("work"), client.secret("other"),
    )


def back_up(client):
    client.call(BACKUPS, BACKUPS_INTERFACE, "BackUp")


def restore(client, name="login", kind="generation"):
    """Restores the oldest past state, or the newest backup."""
    copies = client.call(BACKUPS, BACKUPS_INTERFACE, "List")[0]
    if kind == "backup":
        copies = [copy for copy in copies if copy[0] == f"backup:{name}.keychain"]
    begin = f"{kind}:{name}" + ("." if kind == "backup" else "@")
    copy = next((copy[0] for copy in copies if copy[0].startswith(begin)), None)
    if not copy:
        raise Refused("the past state cannot be read now")
    run_prompt(client, *client.call(BACKUPS, BACKUPS_INTERFACE, "RestoreCopy", "s", copy))


def restore_damaged(client):
    restore(client, "Work", "backup")


def salvage(client):
    run_prompt(client, *client.call(BACKUPS, BACKUPS_INTERFACE, "Salvage", "s", "keychain:Work"))


def run_prompt(client, prompt):
    """Runs a prompt to its end or that of the daemon."""
    rule = MatchRule(type="signal", path=prompt, interface=SECRET + "Prompt", member="Completed")
    with client.connection.filter(rule) as signals:
        client.call(prompt, SECRET + "Prompt", "Prompt", "s", "")

        def answer():
            try:
                return client.connection.recv_until_filtered(signals, timeout=0.1).body
            except TimeoutError:
                return (True, None) if client.daemon.process.poll() is not None else None
        dismissed, _ = eventually("an end of the prompt", answer)
    if dismissed:
        # A prompt gives no reason.
        raise Refused("unknown" if b"unknown" in client.daemon.log.read_bytes() else "refused")


def nothing(_):
    pass


# In these, the frame of an item of Work is damaged.
DAMAGED = {"salvage", "restore-damaged"}
SCENARIOS = {
    "create": (create, lambda s: s["login"].update(made="made")),
    "change": (change, lambda s: s["login"].update({"1": "changed"})),
    "delete": (delete, lambda s: s["login"].pop("1")),
    "create-collection": (create_collection, lambda s: s.update(new=True)),
    "delete-collection": (delete_collection, lambda s: s.update(work=None)),
    "change-password": (change_password, lambda s: s.update(work=("other", s["work"][1]))),
    "back-up": (back_up, lambda s: None),
    # The past state is of the day of the first item.
    "restore": (restore, lambda s: s.update(login={"0": "secret 0"})),
    "salvage": (salvage, lambda s: None),
    "restore-damaged": (restore_damaged, lambda s: s["work"][1].update(LONG_ITEM)),
    "start": (nothing, lambda s: None),
}


def expected(changes, is_damaged=False):
    work = {"a": "a", "b": "b", **({} if is_damaged else LONG_ITEM)}
    s = {"login": {str(n): f"secret {n}" for n in range(3)}, "work": ("work", work), "new": False}
    for apply in changes:
        apply(s)
    return s


def has_prompter():
    with open_dbus_connection("SESSION") as connection:
        message = message_bus.NameHasOwner("org.gnome.keyring.SystemPrompter")
        return unwrap_msg(connection.send_and_get_reply(message, timeout=120))[0]


class Run:
    def __init__(self, program, library, folder):
        self.program, self.library = program, library
        self.folder = pathlib.Path(folder)
        self.template, self.data = self.folder / "template", self.folder / "keychaind"
        self.faults = Faults(self.folder / "control")
        self.failures = []
        self.cases = 0
        self.is_verbose = False
        self.fill()
        self.answers = answers = self.folder / "answers"
        answers.write_text("agree p\n")
        prompter = pathlib.Path(__file__).resolve().parent.parent / "Attacks/prompter.py"
        self.prompter = subprocess.Popen(
            [sys.executable, str(prompter), str(answers), str(self.folder / "asked")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        # Without it the first prompts would be refused, and no fault reached.
        eventually("the prompter", has_prompter)

    def end(self):
        self.prompter.terminate()
        self.prompter.wait()

    def start(self, trace=None):
        return Daemon(self.program, self.library, self.data, self.faults, trace)

    def fill(self):
        # Of an earlier day is what a past state has.
        self.faults.set_clock(YESTERDAY - int(time.time()))
        daemon = self.start()
        daemon.wait()
        client = daemon.client
        eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
        client.create("kept", {"n": "0", **SCHEMA}, "secret 0")
        properties = {SECRET + "Collection.Label": ("s", "Work")}
        client.call(
            ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", properties, client.secret("work")
        )
        client.create("kept", {"n": "a", **SCHEMA}, "a", collection=WORK)
        daemon.stop()
        self.faults.set_clock(0)
        daemon = self.start()
        daemon.wait()
        client = daemon.client
        eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
        open_work(client)
        for number in (1, 2):
            client.create("kept", {"n": str(number), **SCHEMA}, f"secret {number}")
        client.create("kept", {"n": "b", **SCHEMA}, "b", collection=WORK)
        client.create("kept", {"n": "c", **SCHEMA}, "c" * LONG, collection=WORK)
        back_up(client)
        daemon.stop()
        for path in self.data.rglob("*.keychain"):
            if not make_cheap(path, b"work" if path.name.startswith("Work") else b"p"):
                raise RuntimeError(f"{path} does not open")
        for path in self.data.glob("backup/*"):
            # Of an earlier day, so that the next backup keeps it.
            os.utime(path, (YESTERDAY, YESTERDAY))
        shutil.move(self.data, self.template)

    def reset(self):
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(self.template, self.data)
        # Files count by the folder that was watched when they were opened.
        self.faults.watch(self.data)

    @staticmethod
    def backup_problems(client, answer):
        """What is wrong with the backups: each keychain has a sound one, and a new one after an acknowledgement."""
        copies = [copy[0] for copy in client.call(BACKUPS, BACKUPS_INTERFACE, "List")[0]]
        problems = []
        for name in ["login", "Work"]:
            backups = [copy for copy in copies if copy.startswith(f"backup:{name}.")]
            findings = {copy: client.call(BACKUPS, BACKUPS_INTERFACE, "Check", "s", copy)[3] for copy in backups}
            count = 2 if answer == "acknowledged" else 1
            if len(findings) < count or any(findings.values()):
                problems.append(f"{answer}, backups of {name}: {findings}")
        return problems

    def damage(self):
        """Overwrites the frame of the large item; returns the file as it is then."""
        path = self.data / "Work.keychain"
        data = path.read_bytes()
        frame, = (frame for frame in Log(data).records.values() if len(frame["secret"]) > LONG)
        data = data[:frame["place"]] + b"x" * (frame["end"] - frame["place"]) + data[frame["end"]:]
        path.write_bytes(data)
        return data

    def damaged_file_problems(self, damaged, problem):
        """Whether the damaged file is still there, and in use as long as it has not been replaced."""
        files = {path.name: path.read_bytes() for path in self.data.glob("Work.keychain*")}
        if problem and files.get("Work.keychain") != damaged:
            return [f"neither the damaged file nor a whole one is in use: {sorted(files)}"]
        return [] if damaged in files.values() else [f"the damaged file is gone: {sorted(files)}"]

    def case(self, scenario, operation, mode, number, error=EIO, repeat=1):
        """Runs a case; returns whether anything has failed in it."""
        name = f"{scenario}: {mode} {operation} {number}" + (f" and {repeat - 1} more" if repeat > 1 else "")
        action, effect = SCENARIOS[scenario]
        self.reset()
        damaged = self.damage() if scenario in DAMAGED else None
        self.answers.write_text("agree work\n" if damaged else "agree p\n")
        problems = []
        if scenario == "start":
            self.faults.arm(self.data, operation, number, mode, error, repeat)
        daemon = self.start()
        try:
            answer, fired = "acknowledged", 0
            try:
                is_there = daemon.wait()
                if scenario == "start":
                    if is_there and daemon.process.poll() is None:
                        daemon.client.get(ROOT, "Service", "Collections")
                        eventually("an answer about login", lambda: daemon.client.get(LOGIN, "Collection", "Items")
                                   is not None)
                    fired = self.faults.disarm()
                else:
                    eventually("login", lambda: not daemon.client.get(LOGIN, "Collection", "Locked"))
                    open_work(daemon.client)
                    self.faults.arm(self.data, operation, number, mode, error, repeat)
                    try:
                        action(daemon.client)
                    except Refused as refusal:
                        answer = "unknown" if "unknown" in repr(refusal) else "refused"
                    fired = self.faults.disarm()
            except (TimeoutError, DBusErrorResponse) as failure:
                # The end of the daemon is checked below.
                if mode != "kill":
                    problems.append(f"no {failure}")
                answer, fired = "unknown", self.faults.disarm()
            if self.is_verbose:
                print(f"{name}: {answer if fired else 'none'}", flush=True)
            if not fired:
                return False
            if mode == "kill":
                daemon.process.wait(timeout=120)
                # It may have answered before.
                answer = "acknowledged" if answer == "acknowledged" else "unknown"
            is_lie = mode == "lie" and operation not in HARMLESS_LIES
            done, undone = expected([effect], damaged), expected([], damaged)
            outcomes = {"acknowledged": [done], "refused": [undone], "unknown": [done, undone]}[answer]
            next_works = False
            if scenario != "start" and not is_lie and daemon.process.poll() is None:
                try:
                    # A restored keychain is locked.
                    daemon.client.call(
                        ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", LOGIN,
                        daemon.client.secret("p"),
                    )
                    daemon.client.create("next", {"n": "next", **SCHEMA}, "next")
                    next_works = True
                except Refused as refusal:
                    problems.append(f"after {answer} the next change is refused: {refusal}")
                try:
                    found, told = state(daemon.client)
                    problems += self.compare(found, outcomes, next_works, f"{answer}, running")
                    problems += self.told(told, damaged, answer, f"{answer}, running")
                    if scenario == "back-up":
                        problems += self.backup_problems(daemon.client, answer)
                except (Refused, TimeoutError, DBusErrorResponse) as failure:
                    problems.append(f"{answer}, running: {failure!r}")
            signal = daemon.kill()
            if signal:
                problems.append(f"it died of signal {signal}")
            elif mode == "kill" and daemon.process.returncode != 137:
                problems.append("it was not killed")
            daemon = self.start()
            if not daemon.wait():
                problems.append("it does not start again")
            elif not is_lie:
                try:
                    found, told = state(daemon.client)
                    problems += self.compare(found, outcomes, next_works, f"{answer}, after a kill")
                    problems += self.told(told, damaged, answer, f"{answer}, after a kill")
                    if scenario == "back-up":
                        problems += self.backup_problems(daemon.client, answer)
                except (Refused, TimeoutError, DBusErrorResponse) as failure:
                    problems.append(f"{answer}, after a kill: {failure!r}")
        finally:
            signal = daemon.kill()
            if signal:
                problems.append(f"it died of signal {signal}")
            self.faults.disarm()
        self.cases += 1
        if self.cases % 100 == 0:
            print(f"{self.cases} cases", flush=True)
        for problem in problems:
            self.failures.append(f"{name}: {problem}")
            print(f"{name}: {problem}", flush=True)
        return True

    def told(self, problems, damaged, answer, when):
        """What is wrong with the problems that it tells."""
        if damaged:
            is_told = any("keychainctl salvage" in problem for problem in problems)
            found = self.damaged_file_problems(damaged, is_told)
            if answer != "unknown" and is_told == (answer == "acknowledged"):
                found.append("the damage is still told" if is_told else "the damage is not told")
            return [f"{when}: {problem}" for problem in found]
        return [f"{when}: {problem}" for problem in problems]

    @staticmethod
    def compare(found, outcomes, has_next, when):
        found["login"] = dict(found["login"])
        has = found["login"].pop("next", None) is not None
        if has_next and not has:
            return [f"{when}: the next change is lost"]
        return [] if found in outcomes else [f"{when}: {found}"]

    def faulty(self, every, seed, up_to, scenarios, operations, modes):
        counter = itertools.count(seed)
        for scenario in scenarios:
            for operation in operations:
                for mode in modes:
                    if mode == "short" and operation not in WITH_BYTES:
                        continue
                    # Each of a short form is another number, until none fails.
                    for number in itertools.count(1) if up_to is None else range(1, up_to + 1):
                        if next(counter) % every:
                            if number > 12:
                                break
                            continue
                        if not self.case(scenario, operation, mode, number):
                            break
                for error in LASTING_ERRORS.get(operation, []):
                    if "fail" in modes and next(counter) % every == 0:
                        self.case(scenario, operation, "fail", 1, error, repeat=1 << 20)

    def power_losses(self):
        """Deletes a keychain, and starts on each state of the folder that a power loss may leave."""
        self.reset()
        trace = self.folder / "trace"
        trace.unlink(missing_ok=True)
        self.faults.watch(self.data)
        daemon = self.start(trace)
        daemon.wait()
        open_work(daemon.client)
        daemon.client.create("late", {"n": "late", **SCHEMA}, "late", collection=WORK)
        snapshot, after = self.folder / "snapshot", self.folder / "after"
        shutil.rmtree(snapshot, ignore_errors=True)
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(self.data, snapshot)
        begin = trace.stat().st_size
        delete_collection(daemon.client)
        lines = trace.read_text()[begin:].splitlines()
        shutil.copytree(self.data, after)
        daemon.kill()
        groups, steps = [[]], 0
        for line in lines:
            what, first, second = line.split("\t")
            if what == "sync":
                groups.append([])
            elif "/Work." in first:
                groups[-1].append((what, pathlib.Path(first).name, pathlib.Path(second).name))
                steps += 1
        done, states = [], 0
        seen = set()
        for group in groups:
            for size in range(len(group) + 1):
                for subset in itertools.combinations(group, size):
                    for stored in [snapshot, after]:
                        if self.leave(done + list(subset), snapshot, stored, seen):
                            states += 1
            done += group
        print(f"{states} states after {steps} steps", flush=True)
        if steps < 2:
            self.failures.append("the deletion was not traced")

    def leave(self, steps, snapshot, stored, seen):
        """Starts on the snapshot after these steps, with the `state` of another; false if there was such a state."""
        shutil.rmtree(self.data)
        shutil.copytree(snapshot, self.data)
        for what, first, second in steps:
            path = self.data / first
            if what == "rename" and path.exists():
                path.rename(self.data / second)
            elif what == "unlink":
                path.unlink(missing_ok=True)
        files = tuple(sorted(path.name for path in self.data.iterdir() if path.name.startswith("Work")))
        is_marked = any(name.endswith("-deleted") for name in files)
        # It is forgotten when its file is gone for good, and not before its deletion is on the disk.
        is_forgotten = stored.name == "after"
        if (files, is_forgotten) in seen or not is_marked and is_forgotten != ("Work.keychain" not in files):
            return False
        seen.add((files, is_forgotten))
        shutil.copy(stored / "state", self.data)
        self.faults.disarm()
        daemon = self.start()
        name = f"power loss after {steps}"
        try:
            daemon.wait()
            found, told = state(daemon.client)
            if found["work"] not in [None, ("work", {**expected([])["work"][1], "late": "late"})]:
                self.failures.append(f"{name}: {found['work']}")
            if (found["work"] is None) != ("Work.keychain" not in files):
                self.failures.append(f"{name}: neither deleted nor there")
            self.failures += [f"{name}: {problem}" for problem in told]
            left = [path.name for path in self.data.glob("Work*")]
            if found["work"] is None and not (len(left) == 1 and left[0].startswith("Work.keychain-past-")):
                self.failures.append(f"{name}: {left} are left instead of a past file")
        except (Refused, TimeoutError) as failure:
            self.failures.append(f"{name}: {failure!r}")
        finally:
            daemon.kill()
        return True


class Names(argparse.Action):
    def __call__(self, parser, *_):
        print("\n".join(SCENARIOS))
        parser.exit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenarios", action=Names, nargs=0, help="prints their names")
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=SCENARIOS, action="append", help="only this scenario; may be repeated")
    parser.add_argument("--up-to", type=int)
    parser.add_argument("--operation", choices=OPERATIONS, action="append", help="only this operation")
    parser.add_argument("--mode", choices=MODES, action="append", help="only this way of failing")
    parser.add_argument("--power", action="store_true", help="only power losses")
    parser.add_argument("--verbose", action="store_true", help="prints each case")
    options = parser.parse_args()
    run = Run(options.program, options.library, options.folder)
    run.is_verbose = options.verbose
    try:
        if options.power or not options.only:
            run.power_losses()
        if not options.power:
            run.faulty(
                options.every, options.seed, options.up_to, options.only or SCENARIOS,
                options.operation or OPERATIONS, options.mode or MODES,
            )
    finally:
        run.end()
    for failure in run.failures:
        print(f"FAILED {failure}")
    print(f"{run.cases} cases, {len(run.failures)} failures")
    sys.exit(1 if run.failures else 0)


if __name__ == "__main__":
    main()
