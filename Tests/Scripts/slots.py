#!/usr/bin/python3
"""Prints the key slots of a keychain by docs/file-format.md, a line each: slots.py FILE

A line is the kind, and for a password the costs of its key: KiB, iterations and lanes. Needs python3-cryptography.
"""

import hashlib
import hmac
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "LogTests"))
from read_log import Log  # noqa: E402

SLOTS, ITEM, STATE = 1, 2, 3
PASSWORD_SLOT = 1


def read_log(path):
    return Log(pathlib.Path(path).read_bytes())


def read_slots(data):
    """Returns the highest number of a slot, and the number, kind, parameters and sealed key of each."""
    highest, count = struct.unpack(">qH", data[:10])
    slots, place = [], 10
    for _ in range(count):
        number, kind, length = struct.unpack(">qqI", data[place:place + 20])
        parameters = data[place + 20:place + 20 + length]
        place += 20 + length
        length, = struct.unpack(">I", data[place:place + 4])
        slots.append((number, kind, parameters, data[place + 4:place + 4 + length]))
        place += 4 + length + 8
    return highest, slots


def pack_slots(uuid, highest, slots, size):
    data = struct.pack(">qH", highest, len(slots))
    for number, kind, parameters, wrapped in slots:
        start = struct.pack(">qqI", number, kind, len(parameters)) + parameters
        checksum = hmac.new(uuid, start + wrapped, hashlib.sha256).digest()[:8]
        data += start + struct.pack(">I", len(wrapped)) + wrapped + checksum
    return data.ljust(size, b"\0")


def main():
    _, slots = read_slots(read_log(sys.argv[1]).records[SLOTS, 0]["open"])
    for _, kind, parameters, _ in slots:
        print(kind, *(struct.unpack(">III", parameters[:12]) if kind == PASSWORD_SLOT else ()))


if __name__ == "__main__":
    main()
