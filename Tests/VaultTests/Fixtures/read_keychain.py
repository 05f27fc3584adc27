#!/usr/bin/python3
"""Reads a keychain file by docs/file-format.md alone, and checks all that the document promises.

Usage: read_keychain.py FILE [INDEX_KEY_FILE] < PASSWORD

Prints the collection as JSON; bytes are in hexadecimal. Any deviation from the document is an exception.
Needs python3-cryptography and python3-argon2.
"""

import hashlib
import hmac
import json
import sqlite3
import struct
import sys

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

FORMAT = 1
METADATA, SECRET, STATE, SLOT = 1, 2, 3, 4


def associated_data(uuid, column, item=0, revision=0, suffix=b""):
    return b"KCHN" + struct.pack(">I", FORMAT) + uuid + struct.pack(">QBQ", item, column, revision) + suffix


def unseal(key, sealed, place):
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], place)


def derive(master, uuid, purpose):
    return HKDF(SHA256(), 32, salt=uuid, info=b"keychaind 1 " + purpose).derive(master)


def open_slot(uuid, slot, password):
    number, kind, parameters, wrapped, checksum = slot
    message = struct.pack(">qqI", number, kind, len(parameters)) + parameters + wrapped
    assert hmac.new(uuid, message, hashlib.sha256).digest()[:8] == checksum
    assert kind == 1
    memory, iterations, lanes = struct.unpack(">III", parameters[:12])
    salt = parameters[12:]
    assert len(salt) == 16
    key = hash_secret_raw(password, salt, iterations, memory, lanes, 32, Type.ID, 19)
    return unseal(key, wrapped, associated_data(uuid, SLOT, number, kind, parameters))


def read_attributes(packed):
    fields = packed.split(b"\0")
    assert fields.pop() == b"" and len(fields) % 2 == 0
    names = fields[::2]
    assert names == sorted(set(names))
    return dict(zip((name.decode() for name in names), (value.decode() for value in fields[1::2])))


def read_item(uuid, row, metadata_key, secrets_key, index_key):
    number, revision, tags, sealed_metadata, sealed_secret = row
    metadata = unseal(metadata_key, sealed_metadata, associated_data(uuid, METADATA, number, revision, tags))
    secret_revision, created, modified, length = struct.unpack(">QqqI", metadata[:28])
    attributes = read_attributes(metadata[28 + length:])
    if index_key is not None:
        expected = sorted(
            hmac.new(index_key, name.encode() + b"\0" + value.encode(), hashlib.sha256).digest()[:8]
            for name, value in attributes.items()
        )
        assert b"".join(expected) == tags
    secret = unseal(secrets_key, sealed_secret, associated_data(uuid, SECRET, number, secret_revision))
    (type_length,) = struct.unpack(">H", secret[:2])
    return {
        "id": number,
        "label": metadata[28:28 + length].decode(),
        "attributes": attributes,
        "created": created,
        "modified": modified,
        "contentType": secret[2:2 + type_length].decode(),
        "secret": secret[2 + type_length:].hex(),
    }


def main():
    path = sys.argv[1]
    index_key = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else None
    password = sys.stdin.buffer.read()

    with open(path, "rb") as file:
        start = file.read(100)
    assert start[:16] == b"SQLite format 3\0"
    assert struct.unpack(">I", start[60:64]) == (FORMAT,)
    assert start[68:72] == b"KCHN"

    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    uuid, label, index_fingerprint, sealed_state = database.execute(
        "SELECT uuid, label, index_key, state FROM header"
    ).fetchone()
    assert len(uuid) == 16
    if index_key is not None:
        fingerprint = hmac.new(index_key, b"keychaind 1 index fingerprint", hashlib.sha256).digest()[:8]
        assert fingerprint == index_fingerprint

    slot = database.execute("SELECT id, kind, parameters, wrapped, checksum FROM slot ORDER BY id").fetchone()
    master = open_slot(uuid, slot, password)
    metadata_key = derive(master, uuid, b"metadata")
    secrets_key = derive(master, uuid, b"secrets")
    integrity_key = derive(master, uuid, b"integrity")

    state = unseal(metadata_key, sealed_state, associated_data(uuid, STATE))
    next_item, revision, count, created, modified = struct.unpack(">QQQqq", state[:40])
    rows = database.execute("SELECT id, revision, tags, metadata, secret FROM item ORDER BY id").fetchall()
    total = sum(
        int.from_bytes(hmac.new(integrity_key, struct.pack(">QQ", row[0], row[1]), hashlib.sha256).digest(), "big")
        for row in rows
    )
    assert (total % 2**256).to_bytes(32, "big") == state[40:72]
    assert count == len(rows)
    assert all(row[0] < next_item and row[1] <= revision for row in rows)
    assert state[72:].decode() == label

    json.dump(
        {
            "label": label,
            "created": created,
            "modified": modified,
            "items": [read_item(uuid, row, metadata_key, secrets_key, index_key) for row in rows],
        },
        sys.stdout,
    )


main()
