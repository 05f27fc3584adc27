"""browser.py store|read|unlock: a program that stores keys as Chromium does, of arbitrary bytes, and prints them."""

import hashlib
import random
import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

NAME = "org.freedesktop.secrets"
SECRET = "org.freedesktop.Secret."
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
service = dbus.Interface(bus.get_object(NAME, "/org/freedesktop/secrets"), SECRET + "Service")
SECRETS = [
    b"line\nline\0\xff",
    random.Random(7).randbytes(70000),
    b"Chrome Safe Storage: " + random.Random(8).randbytes(16),
]


def attributes(number):
    return dbus.Dictionary({"application": "chrome", "number": str(number)}, signature="ss")


def open_session():
    return service.OpenSession("plain", dbus.String("", variant_level=1))[1]


def store():
    session = open_session()
    collection = dbus.Interface(
        bus.get_object(NAME, "/org/freedesktop/secrets/aliases/default"), SECRET + "Collection"
    )
    for number, secret in enumerate(SECRETS):
        properties = {
            SECRET + "Item.Label": "Chrome Safe Storage",
            SECRET + "Item.Attributes": attributes(number),
        }
        value = dbus.Struct((session, dbus.Array([], "y"), dbus.ByteArray(secret), "text/plain"), signature="oayays")
        collection.CreateItem(dbus.Dictionary(properties, signature="sv"), value, True, timeout=25)
    return "stored"


def find(number):
    unlocked, locked = service.SearchItems(attributes(number))
    (path,) = list(unlocked) + list(locked)
    return path


def read():
    session = open_session()
    hashes = []
    for number, secret in enumerate(SECRETS):
        item = dbus.Interface(bus.get_object(NAME, find(number)), SECRET + "Item")
        value = bytes(bytearray(item.GetSecret(session)[2]))
        assert value == secret, "secret %d is another" % number
        hashes.append(hashlib.sha256(value).hexdigest())
    return " ".join(hashes)


def unlock():
    _, prompt = service.Unlock([find(0)])
    if prompt == "/":
        return "was unlocked"
    loop = GLib.MainLoop()
    dismissed = []

    def receive(is_dismissed, result):
        dismissed.append(bool(is_dismissed))
        loop.quit()

    target = bus.get_object(NAME, prompt)
    target.connect_to_signal("Completed", receive, SECRET + "Prompt")
    target.Prompt("", dbus_interface=SECRET + "Prompt")
    GLib.timeout_add_seconds(60, loop.quit)
    loop.run()
    return "unlocked" if dismissed == [False] else "not unlocked"


try:
    print({"store": store, "read": read, "unlock": unlock}[sys.argv[1]]())
except dbus.DBusException as error:
    print(error.get_dbus_name())
