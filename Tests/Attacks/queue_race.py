"""Keeps calls for an unprotected item in flight while its owner replaces it with a protected one."""

import sys

from secrets_client import *

ATTRIBUTES = {**SCHEMA, "service": "race"}
PROTECTED = b"the secret that a finger protects " * 8000
CALLS = 120

owner, attacker = Client(), Client()
item, _ = attacker.create("bait", ATTRIBUTES, b"x" * len(PROTECTED))

replies = []
for number in range(CALLS):
    if number % 2:
        message = attacker.message(ROOT, SECRET + "Service", "GetSecrets", "aoo", [item], attacker.session)
    else:
        message = attacker.message(item, SECRET + "Item", "GetSecret", "o", attacker.session)
    attacker.connection.send(message)
replaced, _ = owner.create("Bank", {**ATTRIBUTES, "keychain:access-control": sys.argv[1]}, PROTECTED)
for _ in range(CALLS):
    while (reply := attacker.connection.receive(timeout=60)).header.message_type == MessageType.signal:
        pass
    replies.append(reply.body)
print("replaced:", replaced == item)
verdict("the queue race", PROTECTED[:34], replies)
print("the owner reads:", owner.unlock(item) == [item] and owner.read(item) == PROTECTED)
