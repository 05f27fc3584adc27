"""file_limit.py stores | refuses WHEN: whether an item is stored, or refused while all others can be read."""

import sys

from secrets_client import *

expected, when = sys.argv[1:]
client = Client()
try:
    item, _ = client.create(when, {**SCHEMA, "when": when}, when)
    outcome = "stores" if client.read(item) == when.encode() else "loses"
except Refused:
    outcome = "refuses"
print(f"keychaind {expected} an item {when}:", outcome == expected)
(first,) = client.search({"when": "before"})
print(f"the first item can be read {when}:", client.read(first) == b"before")
