"""The daemon, the screen, and the programs on the bus that the model is compared with."""

import collections
import os
import signal
import subprocess

from faults import Faults
from jeepney import DBusAddress, MatchRule, Properties, message_bus, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg
from secrets_client import *

SCRATCH = os.environ["work"]


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

    def run_with(self, process, prompt):
        """The end of a prompt as `run` has it, or None if the daemon ends before."""
        rule = MatchRule(type="signal", path=prompt, interface=SECRET + "Prompt", member="Completed")
        with self.connection.filter(rule) as signals:
            if isinstance(self.outcome(self.call, prompt, SECRET + "Prompt", "Prompt", "s", ""), str):
                return None
            for _ in range(600):
                try:
                    return self.connection.recv_until_filtered(signals, timeout=0.1).body
                except TimeoutError:
                    if process.poll() is not None:
                        return None
        raise TimeoutError("the end of a prompt")

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
        self.faults = Faults(f"{SCRATCH}/control")
        self.system = open_dbus_connection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
        self.bus = open_dbus_connection("SESSION")

    def owner(self):
        names = unwrap_msg(self.bus.send_and_get_reply(message_bus.NameHasOwner(BUS_NAME)))
        return names[0]

    def start(self, folder, password=None):
        eventually("the name to become free", lambda: not self.owner())
        options = ["--unlock"] if password else []
        environment = dict(os.environ, LD_PRELOAD=os.environ["FAULTS"], KEYCHAIND_FAULTS=self.faults.path)
        with open(f"{SCRATCH}/keychaind.log", "a") as log:
            self.process = subprocess.Popen(
                [os.environ["KEYCHAIND"], "--data-dir", folder, *options],
                env=environment, stdin=subprocess.PIPE, stderr=log,
            )
        self.process.stdin.write((password or "").encode())
        self.process.stdin.close()
        eventually("the daemon", lambda: self.owner() or self.process.poll() is not None)
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

        eventually("the screen", is_so)

    def answer(self, text):
        with open(f"{SCRATCH}/answers.new", "w") as file:
            file.write(text + "\n")
        os.replace(f"{SCRATCH}/answers.new", f"{SCRATCH}/answers")


machine = Machine()
