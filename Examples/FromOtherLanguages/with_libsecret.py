#!/usr/bin/python3
"""with_libsecret.py write SERVICE ACCOUNT <PASSWORD | read SERVICE ACCOUNT

The same as main.swift, with libsecret, which GNOME programs in C, Python, Vala or JavaScript use.
"""

import sys

import gi

gi.require_version('Secret', '1')
from gi.repository import Secret  # noqa: E402: only after its version has been said


def write(password, attributes):
    value = Secret.Value.new(password, -1, 'text/plain')
    service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION)
    found = service.search_sync(SCHEMA, attributes, Secret.SearchFlags.UNLOCK, None)
    if found:
        found[0].set_secret_sync(value, None)
    else:
        service.store_sync(SCHEMA, attributes, Secret.COLLECTION_DEFAULT, attributes['account'], value, None)


def read(attributes):
    password = Secret.password_lookup_sync(SCHEMA, attributes, None)
    if password is None:
        sys.exit('The item cannot be found.')
    sys.stdout.write(password)


# Matches items of every schema; new ones are generic passwords.
SCHEMA = Secret.Schema.new('org.freedesktop.Secret.Generic', Secret.SchemaFlags.DONT_MATCH_NAME, {
    'service': Secret.SchemaAttributeType.STRING,
    'account': Secret.SchemaAttributeType.STRING,
})

if len(sys.argv) != 4 or sys.argv[1] not in ('write', 'read'):
    sys.exit(__doc__)
wanted = {'service': sys.argv[2], 'account': sys.argv[3]}
if sys.argv[1] == 'write':
    write(sys.stdin.read(), wanted)
else:
    read(wanted)
