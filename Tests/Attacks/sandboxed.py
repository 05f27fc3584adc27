"""Evaluates expressions from standard input, for sandboxes.py; `c` is a client, connected at its first use."""

import os
import subprocess
import sys

from secrets_client import *


def heard(client):
    """What the connection has received and not answered: signals."""
    messages = []
    try:
        while True:
            messages.append(client.connection.receive(timeout=0))
    except TimeoutError:
        return [str(message) for message in messages]


def hear_while_connecting(count):
    """The signals that new connections hear before anybody can have looked at them."""
    signals = []
    bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
    for _ in range(count):
        connection = open_dbus_connection("SESSION")
        connection.send(new_method_call(bus, "AddMatch", "s", ("type='signal',sender='org.freedesktop.secrets'",)))
        try:
            while True:
                message = connection.receive(timeout=0.02)
                if "org.freedesktop.Secret" in str(message):
                    signals.append(str(message))
        except TimeoutError:
            connection.close()
    return signals


class Names(dict):
    def __missing__(self, name):
        if name == "c":
            self["c"] = Client()
            return self["c"]
        raise KeyError(name)


names = Names({name: value for name, value in globals().items() if not name.startswith("__")})
for line in sys.stdin:
    try:
        answer = eval(eval(line), names)
    except Refused as error:
        answer = ("refused", error.args[0])
    except Exception as error:  # an answer, too
        answer = ("failed", repr(error))
    print(repr(answer), flush=True)
