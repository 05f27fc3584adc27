# programs.py store|read: python-keyring, SecretStorage, and the desktop portal as a program in a sandbox calls it.
import os
import sys

import dbus
import dbus.mainloop.glib
import keyring.backends.SecretService
import secretstorage
from gi.repository import GLib

keyring.set_keyring(keyring.backends.SecretService.Keyring())
bus = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(bus)


def binary(number):
    return bytes((number * 7 + step) % 256 for step in range(number))


def portal_secret():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    session = dbus.SessionBus()
    loop = GLib.MainLoop()
    responses = []

    def receive(response, results):
        responses.append(int(response))
        loop.quit()

    session.add_signal_receiver(receive, "Response", "org.freedesktop.portal.Request")
    portal = session.get_object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
    reader, writer = os.pipe()
    portal.RetrieveSecret(
        dbus.types.UnixFd(writer), {"handle_token": "proof"}, dbus_interface="org.freedesktop.portal.Secret"
    )
    os.close(writer)
    GLib.timeout_add_seconds(30, loop.quit)
    loop.run()
    return os.read(reader, 4096) if responses == [0] else str(responses).encode()


if sys.argv[1] == "store":
    for number in range(1, 151):
        keyring.set_password(f"service {number}", "anna", f"keyring {number} ü")
    for number in range(1, 49):
        collection.create_item(
            f"Binary {number}\n", {"application": "proof", "binary": str(number)}, binary(number),
            content_type="application/octet-stream",
        )
    portal_secret()
else:
    for number in range(1, 151):
        print("keyring", number, keyring.get_password(f"service {number}", "anna"))
    for number in range(1, 49):
        for item in collection.search_items({"application": "proof", "binary": str(number)}):
            print("SecretStorage", number, repr(item.get_label()), item.get_created(), item.get_secret().hex())
    print("portal", portal_secret().hex())
