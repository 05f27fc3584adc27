"""generation.py store | protect | steal: searches for a protected item in an earlier state of its keychain.

generation.py unprotect FILE NAME: copies the file up to each of its commits, as NAME.SEQUENCE.
"""

import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"protected later"


def unprotect(path, name):
    from slots import read_log
    log = read_log(path)
    with open(path, "rb") as file:
        data = file.read()
    for frame in log.frames[2:]:
        if frame["flags"] & 1:
            with open(f"{name}.{frame['sequence']}", "wb") as file:
                file.write(data[:frame["end"]] + bytes(4096))


if sys.argv[1] == "unprotect":
    unprotect(*sys.argv[2:])
    sys.exit()
client = Client()
if sys.argv[1] == "store":
    client.create("Bank", BANK, VALUE)
    client.create("other", {**SCHEMA, "service": "other"}, "unprotected")
elif sys.argv[1] == "protect":
    item, = client.search(BANK)
    client.set(item, "Item", "Attributes", "a{ss}", {**BANK, "keychain:access-control": "userPresence"})
else:
    others = client.search({"service": "other"}) + client.search({"service": "another"})
    verdict("a past state", VALUE, [attempt(client.read, item) for item in client.search(BANK)])
