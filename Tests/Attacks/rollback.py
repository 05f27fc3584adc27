"""rollback.py store | protect | read | read-lost: restores a protected item to its state before it was protected.

rollback.py over | behind | end OLD NEW: puts the item's frame of an older file into a newer one, or cuts that off.
"""

import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"protected since"


def frame_of(path):
    from slots import ITEM, read_log
    log = read_log(path)
    return log, log.records[ITEM, 1]


def put_frame(how, old, new):
    """`over` the present frame of the item, `behind` the last one, or `end`: the file ends before the present one."""
    from read_log import mark
    _, before = frame_of(old)
    log, now = frame_of(new)
    with open(old, "rb") as file:
        data = file.read()[before["place"]:before["end"]]
    with open(new, "r+b") as file:
        if how == "end":
            file.truncate(now["place"] + 64)
        elif how == "over":
            file.seek(now["place"])
            file.write(data)
        else:
            # With all marks that a reader of the file can make, and the next sequence.
            last = log.frames[-1]
            head = data[:5] + b"\1" + data[6:24] + (last["sequence"] + 1).to_bytes(8, "big") + data[32:48]
            head += last["head"][80:] + data[64:80]
            file.seek(last["end"])
            file.write(head + mark(log.file + head) + data[96:])


if sys.argv[1] in ("over", "behind", "end"):
    put_frame(*sys.argv[1:])
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
    if sys.argv[1] == "read":
        print("the item is found:", len(items) > 0)
    else:
        print("the loss is told:", client.get(LOGIN, "org.keychaind.Collection1", "Problem") != "")
    verdict("without the person", VALUE, [attempt(client.read, item) for item in items])
