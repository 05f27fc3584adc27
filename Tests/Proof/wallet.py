# wallet.py store|read: 150 secrets in KWallet's Secret Service, in the default collection.
import sys

import dbus
import dbus.mainloop.glib
import secretstorage
import secretstorage.dhcrypto
import secretstorage.util
from gi.repository import GLib


class Session(secretstorage.dhcrypto.Session):
    def set_server_public_key(self, key):
        super().set_server_public_key(key)
        self.shared_secret = pow(key, self.my_private_key, secretstorage.dhcrypto.DH_PRIME_1024)


# Numbers of the key agreement have 128 bytes. SecretStorage leaves out zero bytes at the beginning of its public key,
# which KWallet then refuses, and KWallet those of the shared secret, which gives it another key: each once in 256.
secretstorage.util.Session = Session
secretstorage.util.int_to_bytes = lambda number: number.to_bytes(128, "big")
bus = secretstorage.dbus_init()


def open_session():
    while True:
        session = secretstorage.util.open_session(bus)
        if session.shared_secret >> 8 * 127:
            return session


def default_collection():
    """Waits for it: kwalletd5 serves a wallet a while after the login has opened it."""
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    messages = dbus.SessionBus()
    loop = GLib.MainLoop()
    found = []

    def look(*_):
        if not messages.name_has_owner("org.freedesktop.secrets"):
            return
        try:
            found.append(secretstorage.collection.get_collection_by_alias(bus, "default"))
            loop.quit()
        except secretstorage.ItemNotFoundException:
            pass

    messages.watch_name_owner("org.freedesktop.secrets", look)
    messages.add_signal_receiver(look, "CollectionCreated", "org.freedesktop.Secret.Service")
    GLib.timeout_add_seconds(60, loop.quit)
    look()
    if not found:
        loop.run()
    return found[0] if found else sys.exit("no default collection")


wallet = default_collection()
# The login has opened the wallet, so no dialog comes.
if wallet.is_locked() and wallet.unlock():
    sys.exit("the wallet stays locked")
wallet.session = open_session()
if sys.argv[1] == "store":
    for number in range(1, 151):
        wallet.create_item(f"Secret {number}", {"proof": "kwallet", "number": str(number)}, f"secret {number} é".encode())
else:
    for number in range(1, 151):
        for item in wallet.search_items({"proof": "kwallet", "number": str(number)}):
            print(number, item.get_label(), "secret", item.get_secret().hex())
