#!/usr/bin/python3
"""Lists, adds and removes the key slots of a keychain: passwords, recovery keys and computers."""

import argparse
import sys
import time

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

SERVICE = 'org.freedesktop.secrets'
COLLECTION = '/org/freedesktop/secrets/collection/'
KEY_SLOTS = 'org.keychaind.KeySlots1'
PROMPT = 'org.freedesktop.Secret.Prompt'


def call(path, interface, method, signature=None, *arguments):
    address = DBusAddress(path, SERVICE, interface)
    return unwrap_msg(connection.send_and_get_reply(new_method_call(address, method, signature, arguments)))


def complete(prompt):
    """Runs a prompt and waits for the person; returns false if they cancelled.

    Only the connection that created a prompt can run it, so gdbus and busctl cannot.
    """
    with connection.filter(MatchRule(type='signal', path=prompt, interface=PROMPT, member='Completed')) as signals:
        call(prompt, PROMPT, 'Prompt', 's', '')
        dismissed, _ = connection.recv_until_filtered(signals).body
        return not dismissed


def show(keychain):
    slots, = call(COLLECTION + keychain, KEY_SLOTS, 'List')
    for number, kind, changed, label in slots:
        day = time.strftime('%Y-%m-%d', time.localtime(changed)) if changed else '-'
        print(f'{number:3}  {kind:12}  {day:10}  {label}'.rstrip())


def change(keychain, method, signature, argument):
    prompt, = call(COLLECTION + keychain, KEY_SLOTS, method, signature, argument)
    if not complete(prompt):
        sys.exit('Nothing was changed.')


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('--keychain', metavar='NAME', default='login', help='the last part of the path (default: login)')
commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
commands.add_parser('list', help='number, kind, day of the last change and label of each')
for command, method, description in [
    ('add-password', 'AddPassword', 'another password'),
    ('add-recovery-key', 'AddRecoveryKey', 'a recovery key, which is shown once'),
    ('add-host', 'AddHost', 'this computer, by its TPM'),
]:
    adding = commands.add_parser(command, help=description)
    adding.add_argument('label', nargs='?', default='', help='its label in the list')
    adding.set_defaults(method=method)
commands.add_parser('remove', help='one of them').add_argument('number', type=int, help='its number in the list')
arguments = parser.parse_args()

connection = open_dbus_connection(bus='SESSION')
try:
    if arguments.command == 'list':
        show(arguments.keychain)
    elif arguments.command == 'remove':
        change(arguments.keychain, 'Remove', 't', arguments.number)
    else:
        change(arguments.keychain, arguments.method, 's', arguments.label)
except DBusErrorResponse as error:
    sys.exit(error.data[0] if error.data else error.name)
