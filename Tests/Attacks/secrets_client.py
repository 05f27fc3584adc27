"""A client of the Secret Service for the attacks: one connection and one plain session.

Each `Client()` is another program on the bus.
"""

import time

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, MessageType, Properties, message_bus, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

BUS_NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
SESSION = ROOT + "/collection/session"
SECRET = "org.freedesktop.Secret."
MASTER_PASSWORDS = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
SCHEMA = {"xdg:schema": "org.freedesktop.Secret.Generic"}


class Refused(Exception):
    """An error reply, by its D-Bus name."""


class Client:
    def __init__(self):
        self.connection = open_dbus_connection("SESSION")
        self.session = self.call(ROOT, SECRET + "Service", "OpenSession", "sv", "plain", ("s", ""))[1]

    def close(self):
        self.connection.close()

    def message(self, path, interface, method, signature=None, *arguments):
        return new_method_call(DBusAddress(path, BUS_NAME, interface), method, signature, arguments)

    def call(self, *arguments, timeout=60):
        try:
            return unwrap_msg(self.connection.send_and_get_reply(self.message(*arguments), timeout=timeout))
        except DBusErrorResponse as error:
            raise Refused(error.name, *error.data) from None

    def secret(self, value):
        return (self.session, b"", value if isinstance(value, bytes) else value.encode(), "text/plain")

    # Items

    def create(self, label, attributes, value, replace=True, collection=LOGIN):
        """Creates or replaces an item; returns its path and the prompt's, one of which is `/`."""
        properties = {
            SECRET + "Item.Label": ("s", label),
            SECRET + "Item.Attributes": ("a{ss}", attributes),
        }
        return self.call(
            collection, SECRET + "Collection", "CreateItem", "a{sv}(oayays)b", properties, self.secret(value), replace
        )

    def read(self, item):
        return bytes(self.call(item, SECRET + "Item", "GetSecret", "o", self.session)[0][2])

    def search(self, attributes):
        unlocked, locked = self.call(ROOT, SECRET + "Service", "SearchItems", "a{ss}", attributes)
        return unlocked + locked

    def get(self, path, interface, name):
        """A property of an interface of the Secret Service, or of one whose name is whole."""
        interface = interface if "." in interface else SECRET + interface
        message = Properties(DBusAddress(path, BUS_NAME, interface)).get(name)
        return unwrap_msg(self.connection.send_and_get_reply(message, timeout=60))[0][1]

    def set(self, path, interface, name, signature, value):
        message = Properties(DBusAddress(path, BUS_NAME, SECRET + interface)).set(name, signature, value)
        try:
            return unwrap_msg(self.connection.send_and_get_reply(message, timeout=60))
        except DBusErrorResponse as error:
            raise Refused(error.name, *error.data) from None

    def process(self):
        """The number of the process that has the name on the bus."""
        message = message_bus.GetConnectionUnixProcessID(BUS_NAME)
        return unwrap_msg(self.connection.send_and_get_reply(message, timeout=60))[0]

    # Prompts

    def unlock(self, *paths):
        """Unlocks objects, through a prompt if necessary; returns the unlocked ones."""
        unlocked, prompt = self.call(ROOT, SECRET + "Service", "Unlock", "ao", list(paths))
        if prompt != "/":
            dismissed, (_, value) = self.run(prompt)
            unlocked += [] if dismissed else value
        return unlocked

    def ask_for_collection(self, label):
        """Returns a prompt that would create a collection."""
        properties = {SECRET + "Collection.Label": ("s", label)}
        return self.call(ROOT, SECRET + "Service", "CreateCollection", "a{sv}s", properties, "")[1]

    def run(self, prompt, timeout=120):
        """Runs a prompt; returns whether it was dismissed, and its result as a variant."""
        rule = MatchRule(type="signal", path=prompt, interface=SECRET + "Prompt", member="Completed")
        with self.connection.filter(rule) as signals:
            self.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
            return self.connection.recv_until_filtered(signals, timeout=timeout).body


def eventually(what, condition, seconds=60):
    """Returns the first result of a condition that counts as true; for what no event tells."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise TimeoutError(what)


def attempt(action, *arguments, **options):
    """Returns the result of an attack, or its error."""
    try:
        return action(*arguments, **options)
    except Refused as error:
        return error


def verdict(name, secret, *spoils):
    """Prints whether a secret is anywhere in an attack's result."""
    found = any(secret in (spoil if isinstance(spoil, bytes) else repr(spoil).encode()) for spoil in spoils)
    print(f"{name}: {'GOT IN' if found else 'held'}", flush=True)
