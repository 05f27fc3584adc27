"""model.py SEED SEQUENCES STEPS: random sequences of what programs, people and faults do, against a model.

Needs $KEYCHAIND, a bus with the prompter of the attacks, and a mock of logind on the system bus. After each step, every
program reads every item, and gets what the model says. Hypothesis shortens a sequence that fails. The invariants:

* nothing acknowledged is lost, by no SIGKILL and no failing disk;
* what is refused is not applied, and what is unknown is settled before the next answer;
* nothing protected is released without its proof, and to nobody else than who asked;
* every prompt completes once;
* no program sees what another one was granted.
"""

import collections
import os
import shutil
import signal
import subprocess
import sys
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from jeepney import DBusAddress, MatchRule, Properties, message_bus, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

for folder in ("Attacks", "Faults"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
from faults import EIO, ENOSPC, OPERATIONS, WITH_BYTES, Faults  # noqa: E402
from secrets_client import *  # noqa: E402

WORK = os.environ["work"]
PASSWORD = "p"
PROTECTION = {"keychain:access-control": "userPresence"}
# Ten seconds, less and more by what a busy machine may take.
GRANT = 10
LEEWAY = 3
LOCKED = "org.freedesktop.Secret.Error.IsLocked"

numbers = st.integers(min_value=0, max_value=7)
# An operation of the disk, and how it fails; a change mostly writes and syncs.
failures = st.sampled_from(
    [(operation, how) for operation in [*OPERATIONS, "write", "write", "sync", "sync"]
     for how in ("fail", "short", "torn", "kill") if operation in WITH_BYTES or how not in ("short", "torn")]
)  # fmt: skip


def eventually(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.002)


class Item:
    def __init__(self, path, collection, name, secret, is_protected):
        self.path, self.collection, self.name, self.is_protected = path, collection, name, is_protected
        # More than one after a change that was not acknowledged.
        self.secrets = [secret]


class Prompt:
    """A prompt of a program; a silent one shows a dialog that nobody answers."""

    def __init__(self, program, path, objects):
        self.program, self.path, self.objects, self.is_silent, self.is_over = program, path, objects, False, False


class Program(Client):
    """A program on the bus; grants are the items that a person allowed it, with the time."""

    def __init__(self):
        super().__init__()
        self.grants = {}
        self.completed = collections.Counter()
        self.signals = collections.deque()
        self.filter = self.connection.filter(MatchRule(type="signal", member="Completed"), queue=self.signals)
        self.filter.__enter__()

    def open_session(self):
        self.session = self.call(ROOT, SECRET + "Service", "OpenSession", "sv", "plain", ("s", ""))[1]

    def listen(self):
        """Takes in the signals that arrived before the answer to a call."""
        self.call(ROOT, "org.freedesktop.DBus.Peer", "Ping")
        while self.signals:
            message = self.signals.popleft()
            self.completed[message.header.fields[1]] += 1

    def outcome(self, action, *arguments):
        """The result, or the name of the error."""
        try:
            return action(*arguments)
        except Refused as error:
            return error.args[0]


class Machine:
    """The daemon, the screen and the person, shared by all sequences but for the folder."""

    def __init__(self):
        self.process = None
        self.faults = Faults(f"{WORK}/control")
        self.system = open_dbus_connection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
        self.bus = open_dbus_connection("SESSION")

    def owner(self):
        names = unwrap_msg(self.bus.send_and_get_reply(message_bus.NameHasOwner(BUS_NAME)))
        return names[0]

    def start(self, folder, password=None):
        eventually(lambda: not self.owner(), "the name to become free")
        options = ["--unlock"] if password else []
        environment = dict(os.environ, LD_PRELOAD=os.environ["FAULTS"], KEYCHAIND_FAULTS=self.faults.path)
        with open(f"{WORK}/keychaind.log", "a") as log:
            self.process = subprocess.Popen(
                [os.environ["KEYCHAIND"], "--data-dir", folder, *options],
                env=environment, stdin=subprocess.PIPE, stderr=log,
            )
        self.process.stdin.write((password or "").encode())
        self.process.stdin.close()
        eventually(lambda: self.owner() or self.process.poll() is not None, "the daemon")
        assert self.process.poll() is None, "the daemon does not start"

    def stop(self, number):
        self.process.send_signal(number)
        status = self.process.wait()
        assert status == (-signal.SIGKILL if number == signal.SIGKILL else 0), f"the daemon ended with {status}"

    def set_screen_locked(self, is_locked):
        name = "org.freedesktop.login1"
        session = DBusAddress("/org/freedesktop/login1/session/c1", name, "org.freedesktop.DBus.Mock")
        values = (f"{name}.Session", {"LockedHint": ("b", is_locked)})
        unwrap_msg(self.system.send_and_get_reply(new_method_call(session, "UpdateProperties", "sa{sv}", values)))
        self.await_screen(is_locked)

    def await_screen(self, is_locked):
        status = Properties(DBusAddress(ROOT, BUS_NAME, "org.keychaind.Status1")).get("SessionLocked")

        def is_so():
            return unwrap_msg(self.bus.send_and_get_reply(status))[0][1] == is_locked

        eventually(is_so, "the screen")

    def answer(self, text):
        with open(f"{WORK}/answers.new", "w") as file:
            file.write(text + "\n")
        os.replace(f"{WORK}/answers.new", f"{WORK}/answers")


machine = Machine()


class Keychains(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = f"{WORK}/keychains"
        shutil.rmtree(self.folder, ignore_errors=True)
        machine.start(self.folder, PASSWORD)
        self.programs = [Program()]
        self.items, self.prompts = [], []
        # The keychains, with whether each is locked.
        self.locked = {LOGIN: False}
        self.is_screen_locked = False
        self.count = 0

    def teardown(self):
        if self.is_screen_locked:
            machine.set_screen_locked(False)
            self.is_screen_locked = False
        if machine.process.poll() is None:
            machine.stop(signal.SIGKILL)
        for program in self.programs:
            program.close()

    # What is chosen

    def program(self, number):
        return self.programs[number % len(self.programs)]

    def keychain(self, number):
        return list(self.locked)[number % len(self.locked)]

    def item(self, number):
        return self.items[number % len(self.items)]

    def has_items(self):
        return bool(self.items)

    def has_no_dialog(self):
        return not any(prompt.is_silent for prompt in self.prompts)

    def can_ask(self):
        return self.has_no_dialog() and not self.is_screen_locked

    # What is so

    def has(self, program, item):
        """Whether a program has an item: yes, no, or None while a grant may end."""
        if self.locked[item.collection]:
            return False
        if not item.is_protected:
            return True
        if self.is_screen_locked or item.path not in program.grants:
            return False
        age = time.monotonic() - program.grants[item.path]
        return True if age < GRANT - LEEWAY else False if age > GRANT + LEEWAY else None

    @invariant()
    def everybody_has_what_is_theirs(self):
        for program in self.programs:
            for item in self.items:
                before = self.has(program, item)
                found = program.outcome(program.read, item.path)
                expected = before if before == self.has(program, item) else None
                secrets = [secret.encode() for secret in item.secrets]
                if found in secrets:
                    assert expected is not False, f"{item.name} was released to {program.session}"
                    item.secrets = [found.decode()]
                else:
                    assert found == LOCKED and expected is not True, f"{item.name}: {found}"

    @invariant()
    def everybody_finds_everything(self):
        found, expected = sorted(self.programs[0].search({"model": "yes"})), sorted(item.path for item in self.items)
        assert found == expected, f"the search found {found}, not {expected}"

    @invariant()
    def prompts_complete_once(self):
        for program in self.programs:
            program.listen()
            assert all(count == 1 for count in program.completed.values()), "a prompt completed twice"
        for prompt in self.prompts:
            if prompt.is_over:
                assert prompt.program.completed[prompt.path] == 1, "a prompt did not complete"
            else:
                assert prompt.program.completed[prompt.path] == 0, "a prompt completed by itself"

    # Programs

    @precondition(lambda self: len(self.programs) < 3)
    @rule()
    def connect(self):
        self.programs.append(Program())

    @precondition(lambda self: len(self.programs) > 1)
    @rule(number=numbers)
    def leave(self, number):
        program = self.program(number)
        program.close()
        self.programs.remove(program)
        self.prompts = [prompt for prompt in self.prompts if prompt.program is not program]

    # Items

    def properties(self, name, is_protected):
        attributes = {**SCHEMA, "model": "yes", "name": name, **(PROTECTION if is_protected else {})}
        return {SECRET + "Item.Label": ("s", name), SECRET + "Item.Attributes": ("a{ss}", attributes)}

    def creation(self, program, keychain, name, secret, is_protected):
        values = (self.properties(name, is_protected), program.secret(secret), False)
        return (keychain, SECRET + "Collection", "CreateItem", "a{sv}(oayays)b", *values)

    @precondition(lambda self: len(self.items) < 8)
    @rule(number=numbers, keychain=numbers, is_protected=st.booleans())
    def create(self, number, keychain, is_protected):
        program, keychain = self.program(number), self.keychain(keychain)
        self.count += 1
        name, secret = f"item {self.count}", f"secret {self.count}"
        made = program.outcome(program.call, *self.creation(program, keychain, name, secret, is_protected))
        if self.locked[keychain]:
            assert made == LOCKED, made
        elif is_protected and keychain != LOGIN:
            # What a finger opens is in `login` only.
            assert made == "org.freedesktop.DBus.Error.NotSupported", made
        else:
            assert isinstance(made, tuple), made
            self.items.append(Item(made[0], keychain, name, secret, is_protected))

    @precondition(has_items)
    @rule(number=numbers, item=numbers)
    def change(self, number, item):
        program, item = self.program(number), self.item(item)
        if item.is_protected:
            # That takes a dialog; without a grant it is refused, which the model says nothing about.
            return
        self.count += 1
        secret = f"changed {self.count}"
        value = program.secret(secret)
        changed = program.outcome(program.call, item.path, SECRET + "Item", "SetSecret", "(oayays)", value)
        if self.locked[item.collection]:
            assert changed == LOCKED, changed
        else:
            assert changed == (), changed
            item.secrets = [secret]

    @precondition(has_items)
    @rule(number=numbers, item=numbers)
    def delete(self, number, item):
        program, item = self.program(number), self.item(item)
        if item.is_protected or self.locked[item.collection]:
            return
        (prompt,) = program.call(item.path, SECRET + "Item", "Delete")
        assert prompt == "/"
        self.items.remove(item)

    # Keychains

    @precondition(lambda self: self.can_ask() and len(self.locked) == 1)
    @rule(number=numbers, agrees=st.booleans())
    def create_keychain(self, number, agrees):
        program = self.program(number)
        properties = {SECRET + "Collection.Label": ("s", "Work")}
        _, path = program.call(ROOT, SECRET + "Service", "CreateCollection", "a{sv}s", properties, "")
        machine.answer(f"agree {PASSWORD}" if agrees else "no")
        dismissed, (_, made) = program.run(path)
        assert dismissed == (not agrees)
        if agrees:
            self.locked[made] = False

    @precondition(lambda self: self.can_ask() and len(self.locked) == 2)
    @rule(number=numbers, agrees=st.booleans())
    def delete_keychain(self, number, agrees):
        program, keychain = self.program(number), self.keychain(1)
        (path,) = program.call(keychain, SECRET + "Collection", "Delete")
        is_asked = self.locked[keychain] or any(i.is_protected and i.collection == keychain for i in self.items)
        assert (path != "/") == is_asked
        if is_asked:
            machine.answer(f"agree {PASSWORD}" if agrees else "no")
            dismissed, _ = program.run(path)
            assert dismissed == (not agrees)
        if agrees or not is_asked:
            del self.locked[keychain]
            self.items = [item for item in self.items if item.collection != keychain]

    @rule(number=numbers, keychain=numbers)
    def lock(self, number, keychain):
        program, keychain = self.program(number), self.keychain(keychain)
        _, prompt = program.call(ROOT, SECRET + "Service", "Lock", "ao", [keychain])
        assert prompt == "/"
        self.locked[keychain] = True
        for program in self.programs:
            kept = {path: time for path, time in program.grants.items() if not path.startswith(keychain + "/")}
            program.grants = kept

    # Prompts

    def objects(self, chosen):
        """Keychains and items, as numbers choose them."""
        every = [*self.locked, *(item.path for item in self.items)]
        return list(dict.fromkeys(every[number % len(every)] for number in chosen))

    def is_locked(self, program, path):
        """None if that changes with time."""
        if path in self.locked:
            return self.locked[path]
        item = next((item for item in self.items if item.path == path), None)
        has = item and self.has(program, item)
        return None if has is None else not has

    def unlocked(self, program, paths):
        now = time.monotonic()
        for path in paths:
            if path in self.locked:
                self.locked[path] = False
        for item in self.items:
            if item.path in paths:
                self.locked[item.collection] = False
                if item.is_protected:
                    program.grants[item.path] = now

    @precondition(can_ask)
    @rule(
        number=numbers, chosen=st.lists(numbers, min_size=1, max_size=3), answer=st.sampled_from(["yes", "no", "later"])
    )
    def unlock(self, number, chosen, answer):
        program, paths = self.program(number), self.objects(chosen)
        states = [self.is_locked(program, path) for path in paths]
        if None in states:
            return
        unlocked, prompt = program.call(ROOT, SECRET + "Service", "Unlock", "ao", paths)
        assert sorted(unlocked) == sorted(path for path, is_locked in zip(paths, states) if not is_locked)
        assert (prompt != "/") == any(states)
        if prompt == "/":
            return
        wanted = [path for path, is_locked in zip(paths, states) if is_locked]
        if answer == "later":
            self.prompts.append(Prompt(program, prompt, wanted))
            return
        machine.answer(f"agree {PASSWORD}" if answer == "yes" else "no")
        dismissed, (_, result) = program.run(prompt)
        assert dismissed == (answer == "no") and sorted(result) == sorted([] if dismissed else wanted), result
        if answer == "yes":
            self.unlocked(program, wanted)

    def waiting(self):
        return [prompt for prompt in self.prompts if not prompt.is_over and not prompt.is_silent]

    @precondition(lambda self: self.waiting() and self.can_ask())
    @rule(number=numbers)
    def show(self, number):
        """Runs a prompt that nobody answers."""
        prompt = self.waiting()[number % len(self.waiting())]
        if not any(self.is_locked(prompt.program, path) for path in prompt.objects):
            return
        machine.answer("silence")
        asked = os.path.getsize(f"{WORK}/asked")
        prompt.program.call(prompt.path, SECRET + "Prompt", "Prompt", "s", "")
        eventually(lambda: os.path.getsize(f"{WORK}/asked") > asked, "the dialog")
        prompt.is_silent = True

    @precondition(lambda self: any(not prompt.is_over for prompt in self.prompts))
    @rule(number=numbers)
    def dismiss(self, number):
        prompts = [prompt for prompt in self.prompts if not prompt.is_over]
        prompt = prompts[number % len(prompts)]
        prompt.program.call(prompt.path, SECRET + "Prompt", "Dismiss")
        self.end(prompt)

    def end(self, prompt):
        """Waits for the end of a prompt that something has ended."""

        def has_ended():
            prompt.program.listen()
            return prompt.program.completed[prompt.path]

        eventually(has_ended, "the end of a prompt")
        prompt.is_over, prompt.is_silent = True, False

    # The screen

    @precondition(lambda self: not self.is_screen_locked)
    @rule()
    def lock_screen(self):
        machine.set_screen_locked(True)
        self.is_screen_locked = True
        for program in self.programs:
            program.grants = {}
        for prompt in self.prompts:
            if prompt.is_silent:
                self.end(prompt)

    @precondition(lambda self: self.is_screen_locked)
    @rule()
    def unlock_screen(self):
        machine.set_screen_locked(False)
        self.is_screen_locked = False

    @precondition(lambda self: self.is_screen_locked and self.has_items())
    @rule(number=numbers, item=numbers)
    def unlock_behind_the_screen(self, number, item):
        """The password opens the keychain, as over ssh; the item stays locked, for nobody sees a dialog about it."""
        program, item = self.program(number), self.item(item)
        if not item.is_protected:
            return
        machine.answer(f"agree {PASSWORD}")
        _, prompt = program.call(ROOT, SECRET + "Service", "Unlock", "ao", [item.path])
        if prompt != "/":
            dismissed, _ = program.run(prompt)
            assert dismissed
            self.locked[item.collection] = False

    # Faults

    def restart(self, number):
        machine.stop(number)
        self.start_again()

    def start_again(self):
        machine.start(self.folder)
        for program in self.programs:
            program.listen()
            program.open_session()
            program.grants, program.completed = {}, collections.Counter()
        self.prompts = []
        self.locked = dict.fromkeys(self.locked, True)
        if self.is_screen_locked:
            machine.await_screen(True)

    @rule(number=st.sampled_from([signal.SIGKILL, signal.SIGTERM]))
    def restart_daemon(self, number):
        self.restart(number)

    @precondition(lambda self: not self.locked[LOGIN] and len(self.items) < 8)
    @rule(number=numbers, is_protected=st.booleans())
    def kill_during_creation(self, number, is_protected):
        """Without an answer, all of the item is there, or nothing."""
        program = self.program(number)
        self.count += 1
        name, secret = f"item {self.count}", f"secret {self.count}"
        program.connection.send(program.message(*self.creation(program, LOGIN, name, secret, is_protected)))
        self.restart(signal.SIGKILL)
        found = program.search({"name": name})
        assert len(found) <= 1
        self.items += [Item(path, LOGIN, name, secret, is_protected) for path in found]

    @precondition(has_items)
    @rule(number=numbers, item=numbers)
    def kill_during_change(self, number, item):
        program, item = self.program(number), self.item(item)
        if item.is_protected or self.locked[item.collection]:
            return
        self.count += 1
        secret = f"changed {self.count}"
        value = program.secret(secret)
        program.connection.send(program.message(item.path, SECRET + "Item", "SetSecret", "(oayays)", value))
        item.secrets.append(secret)
        self.restart(signal.SIGKILL)

    def changeable(self):
        return [item for item in self.items if not item.is_protected and not self.locked[item.collection]]

    def possible_changes(self):
        creation = ["create"] if not self.locked[LOGIN] and len(self.items) < 8 else []
        return creation + (["change", "delete"] if self.changeable() else [])

    @precondition(lambda self: self.possible_changes())
    @rule(
        number=numbers, item=numbers, kind=numbers, failure=failures,
        place=st.integers(min_value=1, max_value=6), error=st.sampled_from([EIO, ENOSPC]),
    )  # fmt: skip
    def change_on_a_failing_disk(self, number, item, kind, failure, place, error):
        program = self.program(number)
        kind = self.possible_changes()[kind % len(self.possible_changes())]
        items = self.changeable()
        item = items[item % len(items)] if kind != "create" else None
        self.count += 1
        name, secret = f"item {self.count}", f"secret {self.count}"
        call = {
            "create": lambda: self.creation(program, LOGIN, name, secret, False),
            "change": lambda: (item.path, SECRET + "Item", "SetSecret", "(oayays)", program.secret(secret)),
            "delete": lambda: (item.path, SECRET + "Item", "Delete"),
        }[kind]()
        answer = self.answer_on_a_failing_disk(program, call, failure, place, error)
        self.note(kind, item, name, secret, answer, program)
        if not self.locked[LOGIN] and len(self.items) < 8:
            # The disk works again, and so does the next change.
            self.create(number, 0, False)

    def possible_keychain_changes(self):
        if len(self.locked) == 1:
            return ["create"]
        return [] if self.locked[self.keychain(1)] else ["delete", "password"]

    @precondition(lambda self: self.possible_keychain_changes())
    @rule(
        number=numbers, kind=numbers, failure=failures,
        place=st.integers(min_value=1, max_value=12), error=st.sampled_from([EIO, ENOSPC]),
    )  # fmt: skip
    def change_keychain_on_a_failing_disk(self, number, kind, failure, place, error):
        program = self.program(number)
        kind = self.possible_keychain_changes()[kind % len(self.possible_keychain_changes())]
        self.count += 1
        password, label = f"password {self.count}", {SECRET + "Collection.Label": ("s", "Work")}
        first, second = program.secret(PASSWORD), program.secret(password)
        call = {
            "create": (ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", label, first),
            "delete": (self.keychain(1), SECRET + "Collection", "Delete"),
            "password": (
                ROOT, MASTER_PASSWORDS, "ChangeWithMasterPassword", "o(oayays)(oayays)", self.keychain(1), first, second
            ),
        }[kind]  # fmt: skip
        answer = self.answer_on_a_failing_disk(program, call, failure, place, error)
        present = set(program.get(ROOT, "Service", "Collections")) - {SESSION}
        if kind == "create":
            made = present - set(self.locked)
            assert len(made) <= 1 and (answer == "unknown" or bool(made) == (answer == "acknowledged")), answer
            # A creation that was not acknowledged may have been ended with the daemon.
            self.locked.update((path, program.get(path, "Collection", "Locked")) for path in made)
        elif kind == "delete":
            keychain = self.keychain(1)
            assert answer == "unknown" or (keychain in present) == (answer == "refused"), answer
            if keychain not in present:
                del self.locked[keychain]
                self.items = [item for item in self.items if item.collection != keychain]
        else:
            self.note_password(program, self.keychain(1), password, answer)

    def note_password(self, program, keychain, password, answer):
        """Unlocks with the password that is in force after a change, and changes it back."""
        self.lock(self.programs.index(program), list(self.locked).index(keychain))
        candidates = {"refused": [PASSWORD], "acknowledged": [password], "unknown": [password, PASSWORD]}[answer]

        def opens(candidate):
            call = (ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", keychain, program.secret(candidate))
            return program.outcome(program.call, *call) == ()

        present = next((candidate for candidate in candidates if opens(candidate)), None)
        assert present, f"{answer}, and another password is in force"
        self.locked[keychain] = False
        if present == password:
            secrets = program.secret(password), program.secret(PASSWORD)
            program.call(ROOT, MASTER_PASSWORDS, "ChangeWithMasterPassword", "o(oayays)(oayays)", keychain, *secrets)

    def answer_on_a_failing_disk(self, program, call, failure, place, error):
        operation, how = failure
        machine.faults.arm(self.folder, operation, place, how, error)
        answer = self.answer_of(program, call)
        has_failed = machine.faults.disarm()
        assert has_failed or answer == "acknowledged", f"{answer} without a reason"
        if how == "kill" and has_failed:
            machine.process.wait()
            self.start_again()
        return answer

    def answer_of(self, program, call):
        try:
            program.call(*call)
            return "acknowledged"
        except Refused as error:
            # The bus answers for a daemon that has ended.
            is_open = "unknown" in repr(error) or "NoReply" in repr(error)
            return "unknown" if is_open else "refused"

    def note(self, kind, item, name, secret, answer, program):
        """What the model says after an answer; one that is unknown is found out."""
        if kind == "create":
            found = program.search({"name": name})
            assert len(found) <= 1 and (answer == "unknown" or bool(found) == (answer == "acknowledged")), answer
            self.items += [Item(path, LOGIN, name, secret, False) for path in found]
        elif kind == "change":
            old = item.secrets if answer != "acknowledged" else []
            item.secrets = old + ([secret] if answer != "refused" else [])
        else:
            found = program.search({"name": item.name})
            assert answer == "unknown" or bool(found) == (answer == "refused"), f"{answer}, found {found}"
            if not found:
                self.items.remove(item)


def main():
    number, sequences, steps = (int(argument) for argument in sys.argv[1:])
    begin = time.monotonic()
    options = settings(
        max_examples=sequences, stateful_step_count=steps, deadline=None, database=None, print_blob=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate] if os.environ.get("SHRINK") == "no" else [Phase.generate, Phase.shrink],
    )  # fmt: skip
    run_state_machine_as_test(seed(number)(Keychains), settings=options)
    print(f"{sequences} sequences of up to {steps} steps, seed {number}: {time.monotonic() - begin:.0f} s")


main()
