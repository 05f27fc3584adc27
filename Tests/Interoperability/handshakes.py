"""Handshakes with a foreign client, python3-secretstorage, and secrets in both directions of its sessions.

Opens and closes sessions over one connection; in each reads a known secret, and in some stores another and compares it
through the next. A shared secret that begins with zero bytes, one of 256, is where implementations part ways.

usage: handshakes.py COUNT
"""

import os
import sys

import gmpy2
import secretstorage
from jeepney import DBusAddress, new_method_call
from secretstorage import dhcrypto
from secretstorage.util import open_session

SERVICE = "org.freedesktop.secrets"

# Python's pow() would take most of the time.
dhcrypto.pow = lambda base, exponent, modulus: int(gmpy2.powmod(base, exponent, modulus))

short_secrets = 0


class Session(dhcrypto.Session):
    """A session that counts shared secrets with a leading zero."""

    def set_server_public_key(self, server_public_key):
        global short_secrets
        shared = dhcrypto.pow(server_public_key, self.my_private_key, dhcrypto.DH_PRIME_1024)
        short_secrets += shared.bit_length() <= 127 * 8
        super().set_server_public_key(server_public_key)


def close(connection, session):
    address = DBusAddress(session.object_path, bus_name=SERVICE, interface="org.freedesktop.Secret.Session")
    connection.send_and_get_reply(new_method_call(address, "Close"))


def main(count):
    secretstorage.util.Session = Session
    connection = secretstorage.dbus_init()
    collection = secretstorage.get_default_collection(connection)
    stored = os.urandom(1)
    item = collection.create_item("handshakes", {"test": "handshakes"}, stored)
    wrong = 0
    for number in range(count):
        session = open_session(connection)
        item.session = session
        wrong += item.get_secret() != stored
        # Every length up to a few cipher blocks; storing is slower, since it waits for the disk.
        if number % 20 == 0:
            stored = os.urandom(number // 20 % 70)
            item.set_secret(stored)
        close(connection, session)
    print(f"handshakes={count} wrong={wrong} short={short_secrets}")
    sys.exit(wrong != 0)


main(int(sys.argv[1]))
