"""generation.py store | steal: looks for a protected item in an earlier state of its keychain."""

import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"protected later"

client = Client()
if sys.argv[1] == "store":
    item, _ = client.create("Bank", BANK, VALUE)
    client.create("other", {**SCHEMA, "service": "other"}, "unprotected")
    client.set(item, "Item", "Attributes", "a{ss}", {**BANK, "keychain:access-control": "userPresence"})
else:
    others = client.search({"service": "other"}) + client.search({"service": "another"})
    verdict("a past state", VALUE, [attempt(client.read, item) for item in client.search(BANK)])
