"""passcode_reset.py store | reset | read: replaces the keychain `login` and its passcode."""

import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank", "keychain:access-control": "userPresence"}
VALUE = b"kept in memory for the passcode"
client = Client()

if sys.argv[1] == "store":
    client.create("Bank", BANK, VALUE, collection=SESSION)
    client.create("other", {**SCHEMA, "service": "other"}, "unprotected")
elif sys.argv[1] == "reset":
    (prompt,) = client.call(LOGIN, SECRET + "Collection", "Delete")
    if prompt != "/":
        attempt(client.run, prompt)
    print("login is still there:", len(client.search({"service": "other"})) == 1)
    properties = {SECRET + "Collection.Label": ("s", "Login")}
    attempt(
        client.call, ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", properties,
        client.secret("mine"),
    )
    (item,) = client.search({"service": "bank"})
    attempt(client.unlock, item)
    verdict("a passcode of the attacker's", VALUE, attempt(client.read, item))
else:
    (item,) = client.search({"service": "bank"})
    print("the owner reads:", client.unlock(item) == [item] and client.read(item) == VALUE)
