"""What programs and people do, and what keychaind says then."""

import copy
import os
import shutil
import signal
import sys
import time
import traceback

from faults import BACKUPS, BACKUPS_INTERFACE
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from world import *

PASSWORD = "p"
PROTECTION = {"keychain:access-control": "userPresence"}
# Seconds; a grant counts as uncertain for the last of them where a rule depends on it.
GRANT = 10
LEEWAY = 3
FAILURE = f"{SCRATCH}/failure"
LOCKED = "org.freedesktop.Secret.Error.IsLocked"

numbers = st.integers(min_value=0, max_value=7)


class Keychains(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = f"{SCRATCH}/keychains"
        shutil.rmtree(self.folder, ignore_errors=True)
        machine.start(self.folder, PASSWORD)
        self.programs = [Program()]
        self.items, self.prompts = [], []
        # The keychains, with whether each is locked.
        self.locked = {LOGIN: False}
        # The items of each keychain in its backup.
        self.backups = {}
        self.is_screen_locked = False
        self.count = 0

    def teardown(self):
        self.note_failure(sys.exc_info()[1])
        if self.is_screen_locked:
            machine.set_screen_locked(False)
            self.is_screen_locked = False
        if machine.process.poll() is None:
            machine.stop(signal.SIGKILL)
        for program in self.programs:
            program.close()

    def note_failure(self, error):
        """Keeps the first failure: Hypothesis tells only what fails again."""
        if isinstance(error, Exception) and not isinstance(error, HypothesisException):
            if not os.path.exists(FAILURE):
                with open(FAILURE, "w") as file:
                    traceback.print_exception(error, file=file)

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

    def has(self, program, item, leeway=0):
        """Whether a program has an item: yes, no, or None while a grant may end, or will in so many seconds."""
        if self.locked[item.collection]:
            return False
        if not item.is_protected:
            return True
        if self.is_screen_locked or item.path not in program.grants:
            return False
        asked, answered = (time.monotonic() - moment for moment in program.grants[item.path])
        return True if asked < GRANT - leeway else False if answered > GRANT + LEEWAY else None

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
        expected = sorted(item.path for item in self.items)
        for program in self.programs:
            found = sorted(program.search({"model": "yes"}))
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
            self.deleted(keychain)

    def deleted(self, keychain):
        del self.locked[keychain]
        self.backups.pop(keychain, None)
        self.items = [item for item in self.items if item.collection != keychain]
        # They are for none that is made in its place.
        for prompt in self.prompts:
            prompt.objects = [path for path in prompt.objects if not (path + "/").startswith(keychain + "/")]

    @rule(number=numbers, keychain=numbers)
    def lock(self, number, keychain):
        program, keychain = self.program(number), self.keychain(keychain)
        _, prompt = program.call(ROOT, SECRET + "Service", "Lock", "ao", [keychain])
        assert prompt == "/"
        self.was_locked(keychain)

    def was_locked(self, keychain):
        self.locked[keychain] = True
        for program in self.programs:
            kept = {path: time for path, time in program.grants.items() if not path.startswith(keychain + "/")}
            program.grants = kept

    # Backups

    def items_of(self, keychain):
        return [item for item in self.items if item.collection == keychain]

    @rule(number=numbers)
    def back_up(self, number):
        program, copied = self.program(number), list(self.locked)
        if program.outcome(program.call, BACKUPS, BACKUPS_INTERFACE, "BackUp") == "org.freedesktop.DBus.Error.Failed":
            # A locked keychain that was not unlocked since the start keeps its last copy.
            copied = [keychain for keychain in self.locked if not self.locked[keychain]]
            assert len(copied) < len(self.locked), "an unlocked keychain was not copied"
        self.backups = {keychain: copy.deepcopy(self.items_of(keychain)) for keychain in copied}

    @rule(number=numbers, keychain=numbers)
    def check(self, number, keychain):
        keychain = self.keychain(keychain)
        name, count = os.path.basename(keychain), len(self.items_of(keychain))
        items, intact, _, findings = self.program(number).call(
            BACKUPS, BACKUPS_INTERFACE, "Check", "s", f"keychain:{name}"
        )
        assert (items, intact, findings) == (count, count, []), f"{count} items, but {items}, {intact}, {findings}"

    def restoration(self, program, keychain):
        backup = f"backup:{os.path.basename(keychain)}.keychain"
        return program.call(BACKUPS, BACKUPS_INTERFACE, "RestoreCopy", "s", backup)[0]

    @precondition(lambda self: self.can_ask() and self.backups)
    @rule(number=numbers, keychain=numbers, agrees=st.booleans())
    def restore(self, number, keychain, agrees):
        program, keychain = self.program(number), list(self.backups)[keychain % len(self.backups)]
        prompt = self.restoration(program, keychain)
        machine.answer(f"agree {PASSWORD}" if agrees else "no")
        dismissed, (_, path) = program.run(prompt)
        assert dismissed == (not agrees)
        if agrees:
            assert path == keychain, path
            self.restored(keychain)

    def restored(self, keychain):
        others = [item for item in self.items if item.collection != keychain]
        self.items = others + copy.deepcopy(self.backups[keychain])
        self.was_locked(keychain)
