"""application_password.py store | guess COUNT | read: guesses an item's application password."""

import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank", "keychain:access-control": "applicationPassword"}
VALUE = b"behind four digits"

client = Client()
if sys.argv[1] == "store":
    _, prompt = client.create("Bank", BANK, VALUE)
    dismissed, _ = client.run(prompt)
    print("stored:", not dismissed)
    sys.exit()
(item,) = client.search({"service": "bank"})
if sys.argv[1] == "guess":
    for _ in range(int(sys.argv[2])):
        attempt(client.unlock, item)
    verdict("many guesses", VALUE, attempt(client.read, item))
else:
    print("the owner reads:", client.unlock(item) == [item] and client.read(item) == VALUE)
