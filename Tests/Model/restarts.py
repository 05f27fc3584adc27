"""What a daemon that ends leaves."""

import collections
import signal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from prompts import *


class KeychainsAfterRestarts(KeychainsWithPrompts):
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

    @precondition(lambda self: self.has_items())
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
