#!/usr/bin/python3
"""with_secretstorage.py write SERVICE ACCOUNT <PASSWORD | read SERVICE ACCOUNT

The same as main.swift, with SecretStorage, a pure Python library.
"""

import sys

import secretstorage


def write(password, attributes):
    for item in secretstorage.search_items(connection, attributes):
        item.set_secret(password)
        return
    collection = secretstorage.get_default_collection(connection)
    collection.create_item(attributes['account'], attributes, password)


def read(attributes):
    for item in secretstorage.search_items(connection, attributes):
        if item.is_locked() and item.unlock():
            sys.exit('Not unlocked.')
        sys.stdout.buffer.write(item.get_secret())
        return
    sys.exit('The item cannot be found.')


if len(sys.argv) != 4 or sys.argv[1] not in ('write', 'read'):
    sys.exit(__doc__)
connection = secretstorage.dbus_init()
wanted = {'service': sys.argv[2], 'account': sys.argv[3]}
if sys.argv[1] == 'write':
    write(sys.stdin.buffer.read(), wanted)
else:
    read(wanted)
