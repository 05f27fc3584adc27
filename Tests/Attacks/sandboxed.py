"""Evaluates expressions from standard input, for sandboxes.py; `c` is a client, connected at its first use."""

import os
import subprocess
import sys

from jeepney import HeaderFields, new_method_return, new_signal
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


def store_many(client, count):
    """Stores small items, a hundred at a time; returns how many there are of each outcome."""
    outcomes = {}
    for first in range(0, count, 100):
        calls = range(first, min(first + 100, count))
        for number in calls:
            properties = {SECRET + "Item.Attributes": ("a{ss}", {"small": str(number)})}
            arguments = properties, client.secret("x"), False
            client.connection.send(client.message(LOGIN, SECRET + "Collection", "CreateItem", "a{sv}(oayays)b", *arguments))
        for _ in calls:
            while (reply := client.connection.receive(timeout=60)).header.message_type == MessageType.signal:
                pass
            outcome = reply.header.fields.get(HeaderFields.error_name, "stored")
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


# The calls that each client has got, none of which is answered.
calls = {}


def take(client, name):
    """Takes a name that keychaind calls; returns whether it is the client's."""
    if client not in calls:
        calls[client] = client.connection.filter(MatchRule(type="method_call")).queue
    return unwrap_msg(client.connection.send_and_get_reply(message_bus.RequestName(name, 4), timeout=60))[0] == 1


def release(client, name):
    client.connection.send_and_get_reply(message_bus.ReleaseName(name), timeout=60)


def heard_calls(client):
    """The calls that have come so far."""
    client.connection.send_and_get_reply(message_bus.GetId(), timeout=60)
    return [message.header.fields[HeaderFields.member] for message in calls[client]]


def wait_for_call(client):
    """The next call."""
    return client.connection.recv_until_filtered(calls[client], timeout=60).header.fields[HeaderFields.member]


def press_buttons(client):
    """Shows the next notification as a desktop does, and presses its buttons."""
    while True:
        call = client.connection.recv_until_filtered(calls[client], timeout=60)
        if call.header.fields[HeaderFields.member] == "GetCapabilities":
            client.connection.send(new_method_return(call, "as", (["actions"],)))
        else:
            client.connection.send(new_method_return(call, "u", (1,)))
            desktop = DBusAddress("/org/freedesktop/Notifications", interface="org.freedesktop.Notifications")
            for key in call.body[5][::2]:
                client.connection.send(new_signal(desktop, "ActionInvoked", "us", (1, key)))
            return


def portal_secret(application):
    """Takes the desktop portal's name, and asks for an application's secret."""
    connection = open_dbus_connection("SESSION", enable_fds=True)
    reader, writer = os.pipe()
    try:
        name = message_bus.RequestName("org.freedesktop.portal.Desktop", 4)
        assert unwrap_msg(connection.send_and_get_reply(name, timeout=60))[0] == 1
        backend = DBusAddress(
            "/org/freedesktop/portal/desktop", "org.freedesktop.impl.portal.desktop.keychaind",
            "org.freedesktop.impl.portal.Secret",
        )  # fmt: skip
        request = ("/org/freedesktop/portal/desktop/request/1", application, writer, {})
        call = new_method_call(backend, "RetrieveSecret", "osha{sv}", request)
        response = unwrap_msg(connection.send_and_get_reply(call, timeout=60))[0]
        os.close(writer)
        return response, os.read(reader, 4096)
    finally:
        os.close(reader)
        connection.close()


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
