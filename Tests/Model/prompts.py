"""What prompts do, and what a locked screen does to them."""

import os
import time

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from keychains import *


class KeychainsWithPrompts(Keychains):
    def objects(self, chosen):
        """Keychains and items, as numbers choose them."""
        every = [*self.locked, *(item.path for item in self.items)]
        return list(dict.fromkeys(every[number % len(every)] for number in chosen))

    def is_locked(self, program, path):
        """None if that changes with time."""
        if path in self.locked:
            return self.locked[path]
        item = next((item for item in self.items if item.path == path), None)
        has = item and self.has(program, item, LEEWAY)
        return None if has is None else not has

    def unlocked(self, program, paths, since):
        """Notes what a prompt has unlocked that was run at that time."""
        for path in paths:
            if path in self.locked:
                self.locked[path] = False
        for item in self.items:
            if item.path in paths:
                self.locked[item.collection] = False
                if item.is_protected:
                    program.grants[item.path] = (since, time.monotonic())

    @precondition(lambda self: self.can_ask())
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
        since = time.monotonic()
        dismissed, (_, result) = program.run(prompt)
        assert dismissed == (answer == "no") and sorted(result) == sorted([] if dismissed else wanted), result
        if answer == "yes":
            self.unlocked(program, wanted, since)

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
        asked = os.path.getsize(f"{SCRATCH}/asked")
        prompt.program.call(prompt.path, SECRET + "Prompt", "Prompt", "s", "")
        eventually("the dialog", lambda: os.path.getsize(f"{SCRATCH}/asked") > asked)
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

        eventually("the end of a prompt", has_ended)
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
