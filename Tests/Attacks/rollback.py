"""rollback.py store | protect | row OLD NEW | read: restores a protected item to its state before it was protected."""

import sqlite3
import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"protected since"

if sys.argv[1] == "row":
    old, new = (sqlite3.connect(path) for path in sys.argv[2:])
    row = old.execute("SELECT id, revision, tags, metadata, secret FROM item").fetchone()
    with new:
        new.execute("INSERT OR REPLACE INTO item (id, revision, tags, metadata, secret) VALUES (?, ?, ?, ?, ?)", row)
    sys.exit()

client = Client()
if sys.argv[1] == "store":
    client.create("Bank", BANK, VALUE)
elif sys.argv[1] == "protect":
    (item,) = client.search(BANK)
    client.set(item, "Item", "Attributes", "a{ss}", {**BANK, "keychain:access-control": "userPresence"})
else:
    if len(sys.argv) > 2:
        attempt(client.unlock, ROOT + "/collection/" + sys.argv[2])
    items = client.search(BANK)
    print("the item is found:", len(items) > 0)
    verdict("without the person", VALUE, [attempt(client.read, item) for item in items])
