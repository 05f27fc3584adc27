#!/usr/bin/python3
"""Replaces an attribute of an item and seals it with the password, as a program of a later version could.

Usage: exchange_attribute.py FILE INDEX_KEY_FILE ITEM OLD_NAME NEW_NAME NEW_VALUE < PASSWORD
"""

import os
import struct
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import read_keychain as reader


def main():
    path, index_path, item, old_name, new_name, new_value = sys.argv[1:]
    index_key = open(index_path, "rb").read()
    database, uuid, slots = reader.open_file(path, mode="rw")
    master = reader.open_master(uuid, slots, sys.stdin.buffer.read())
    key = reader.derive(master, uuid, b"metadata")
    number, revision, tags, sealed = database.execute(
        "SELECT id, revision, tags, metadata FROM item WHERE id = ?", (int(item),)
    ).fetchone()
    metadata = reader.unseal(key, sealed, reader.associated_data(uuid, reader.METADATA, number, revision, tags))
    packed = reader.split_metadata(metadata)[-1]
    attributes = reader.read_attributes(packed)
    del attributes[old_name]
    attributes[new_name] = new_value
    pairs = sorted((name.encode(), value.encode()) for name, value in attributes.items())
    tags = reader.make_tags(index_key, attributes)
    metadata = metadata[:len(metadata) - len(packed)] + b"".join(name + b"\0" + value + b"\0" for name, value in pairs)
    nonce = os.urandom(12)
    place = reader.associated_data(uuid, reader.METADATA, number, revision, tags)
    sealed = nonce + AESGCM(key).encrypt(nonce, metadata, place)
    database.execute("UPDATE item SET tags = ?, metadata = ? WHERE id = ?", (tags, sealed, number))
    database.commit()


main()
