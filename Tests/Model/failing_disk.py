"""What a disk that fails changes."""

import copy
import time

from faults import EIO, ENOSPC, OPERATIONS, WITH_BYTES
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from restarts import *

# An operation of the disk, and how it fails; a change mostly writes and syncs.
failures = st.sampled_from(
    [(operation, how) for operation in [*OPERATIONS, "write", "write", "sync", "sync"]
     for how in ("fail", "short", "torn", "kill") if operation in WITH_BYTES or how not in ("short", "torn")]
)  # fmt: skip


class KeychainsOnAFailingDisk(KeychainsAfterRestarts):
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
                self.deleted(keychain)
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

    # Dialogs

    def dialogs(self):
        kinds = ["unlock"] if any(self.locked.values()) or any(item.is_protected for item in self.items) else []
        kinds += ["create"] if len(self.locked) == 1 else []
        kinds += ["delete"] if len(self.locked) == 2 and self.locked[self.keychain(1)] else []
        return kinds + (["restore"] if self.backups else [])

    @precondition(lambda self: self.can_ask() and self.dialogs())
    @rule(
        number=numbers, kind=numbers, chosen=st.lists(numbers, min_size=1, max_size=3), failure=failures,
        place=st.integers(min_value=1, max_value=12), error=st.sampled_from([EIO, ENOSPC]),
    )  # fmt: skip
    def agree_on_a_failing_disk(self, number, kind, chosen, failure, place, error):
        """What the result of a prompt says is so; what was dismissed works once the disk does."""
        kind = self.dialogs()[kind % len(self.dialogs())]
        machine.answer(f"agree {PASSWORD}")
        getattr(self, kind + "_on_a_failing_disk")(self.program(number), chosen, (failure, place, error))

    def run_on_a_failing_disk(self, program, prompt, fault):
        """Returns the result of a prompt, None if it was dismissed, and whether the daemon is another one."""
        (operation, how), place, error = fault
        machine.faults.arm(self.folder, operation, place, how, error)
        end = program.run_with(machine.process, prompt)
        has_failed = machine.faults.disarm()
        assert has_failed or end and not end[0], f"{end} without a reason"
        was_killed = bool(how == "kill" and has_failed)
        if was_killed:
            machine.process.wait()
            self.start_again()
        return end[1][1] if end and not end[0] else None, was_killed

    def unlock_on_a_failing_disk(self, program, chosen, fault):
        paths = self.objects(chosen)
        states = [self.is_locked(program, path) for path in paths]
        if None in states or not any(states):
            return
        _, prompt = program.call(ROOT, SECRET + "Service", "Unlock", "ao", paths)
        wanted = [path for path, is_locked in zip(paths, states) if is_locked]
        since = time.monotonic()
        result, was_killed = self.run_on_a_failing_disk(program, prompt, fault)
        assert set(result or []) <= set(wanted), result
        if result and not was_killed:
            self.unlocked(program, result, since)
        for keychain in self.locked:
            # An item stays locked when its keychain was opened for it.
            is_locked = program.get(keychain, "Collection", "Locked")
            is_wanted = not was_killed and any(path == keychain or path.startswith(keychain + "/") for path in wanted)
            assert is_locked == self.locked[keychain] or is_wanted and not is_locked, keychain
            self.locked[keychain] = is_locked
        states = [self.is_locked(program, path) for path in paths]
        if None not in states:
            since = time.monotonic()
            assert sorted(program.unlock(*paths)) == sorted(paths)
            self.unlocked(program, [path for path, is_locked in zip(paths, states) if is_locked], since)

    def create_on_a_failing_disk(self, program, _, fault):
        label = {SECRET + "Collection.Label": ("s", "Work")}
        _, prompt = program.call(ROOT, SECRET + "Service", "CreateCollection", "a{sv}s", label, "")
        result, _ = self.run_on_a_failing_disk(program, prompt, fault)
        made = set(program.get(ROOT, "Service", "Collections")) - {SESSION} - set(self.locked)
        assert made == {result} if result else len(made) <= 1, f"{result}, made {made}"
        self.locked.update((path, program.get(path, "Collection", "Locked")) for path in made)

    def delete_on_a_failing_disk(self, program, _, fault):
        keychain = self.keychain(1)
        (prompt,) = program.call(keychain, SECRET + "Collection", "Delete")
        result, _ = self.run_on_a_failing_disk(program, prompt, fault)
        if keychain in program.get(ROOT, "Service", "Collections"):
            assert result is None, "a deleted keychain is there"
            self.locked[keychain] = program.get(keychain, "Collection", "Locked")
        else:
            self.deleted(keychain)

    def restore_on_a_failing_disk(self, program, chosen, fault):
        keychain = list(self.backups)[chosen[0] % len(self.backups)]
        result, _ = self.run_on_a_failing_disk(program, self.restoration(program, keychain), fault)
        if program.get(keychain, "Collection", "Locked"):
            self.was_locked(keychain)
        assert program.unlock(keychain) == [keychain]
        self.locked[keychain] = False
        # Only an unlocked keychain shows which of both it is.
        names = {
            path: program.get(path, "Item", "Attributes")["name"]
            for path in program.search({"model": "yes"}) if path.startswith(keychain + "/")
        }  # fmt: skip
        before, after = self.items_of(keychain), copy.deepcopy(self.backups[keychain])
        possible = [after] if result else [before, after]
        states = [items for items in possible if {item.path: item.name for item in items} == names]
        assert states, f"{result}, and the keychain has {names}"
        for item, other in zip(states[0], states[-1]):
            item.secrets = list(dict.fromkeys(item.secrets + other.secrets))
        self.items = [item for item in self.items if item.collection != keychain] + states[0]
