#!/usr/bin/python3
"""Reads a keychain file by docs/file-format.md alone, and checks all that the document promises.

Usage: read_keychain.py FILE INDEX_KEY_FILE [LOGIN_FILE] < PASSWORDS

PASSWORDS are up to three lines: the password of FILE, or a recovery key in its place; the passcode, which is the password of LOGIN_FILE, or of FILE without one; the
application password of all items that ask for one. Prints the collection as JSON; bytes are in hexadecimal. The secret of an item
that what was given does not open is null. `keys` are the complements of the keys that only the passcode gives, `secretsKey` is that of
the secrets key: who looks for a key in its own memory needs to know it without having it. `applicationSecret` is that of the application org.example.Mail. Any deviation from the document is an exception.
Needs python3-cryptography and python3-argon2.
"""

import hashlib
import hmac
import json
import sqlite3
import struct
import sys

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

FORMAT = 4
METADATA, SECRET, STATE, SLOT, PROTECTED_SECRET, ITEM_KEY = 1, 2, 3, 4, 5, 6
PASSWORD_SLOT, RECOVERY_SLOT, LOGIN_SLOT = 1, 3, 6
RECOVERY_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PASSCODE, APPLICATION_PASSWORD, OF_LOGIN = 1, 2, 4
OWN_KEY = 1 << 63


def associated_data(uuid, column, item=0, revision=0, suffix=b""):
    return b"KCHN" + struct.pack(">I", 1) + uuid + struct.pack(">QBQ", item, column, revision) + suffix


def unseal(key, sealed, place):
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], place)


def derive(master, uuid, purpose):
    return HKDF(SHA256(), 32, salt=uuid, info=b"keychaind 1 " + purpose).derive(master)


def application_secret(secrets_key, uuid, application):
    return HKDF(SHA256(), 64, salt=uuid, info=b"keychaind 1 application " + application).derive(secrets_key)


def public_bytes(pair):
    return pair.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def private_bytes(pair):
    return pair.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


def password_key(password, parameters):
    memory, iterations, lanes = struct.unpack(">III", parameters[:12])
    salt = parameters[12:]
    assert len(salt) == 16
    return hash_secret_raw(password, salt, iterations, memory, lanes, 32, Type.ID, 19)


def encapsulated_key(private, public, purpose):
    shared = private.exchange(X25519PublicKey.from_public_bytes(public))
    info = purpose + public + public_bytes(private)
    return HKDF(SHA256(), 32, salt=None, info=info).derive(shared)


def check_slot(uuid, slot):
    number, kind, parameters, wrapped, checksum = slot
    message = struct.pack(">qqI", number, kind, len(parameters)) + parameters + wrapped
    assert hmac.new(uuid, message, hashlib.sha256).digest()[:8] == checksum


def open_slot(uuid, slot, key):
    number, kind, parameters, wrapped, _ = slot
    return unseal(key, wrapped, associated_data(uuid, SLOT, number, kind, parameters))


def read_note(note):
    """The time and the label of a slot."""
    return struct.unpack(">q", note[:8])[0], note[8:].decode()


def recovery_key(text, salt):
    """The key of a slot from a recovery key as it is written down; None if it is none."""
    symbols = text.decode(errors="replace").upper().replace("-", "")
    if len(symbols) != 28 or not set(symbols) <= set(RECOVERY_SYMBOLS):
        return None
    check = 0
    for symbol in symbols:
        check = check << 1 ^ (0x25 if check & 16 else 0) ^ RECOVERY_SYMBOLS.index(symbol)
    assert check == 0
    return HKDF(SHA256(), 32, salt=salt, info=b"keychaind 1 recovery").derive(symbols.encode())


def open_master(uuid, slots, password):
    for slot in slots:
        if slot[1] == RECOVERY_SLOT:
            read_note(slot[2][16:])
            key = recovery_key(password, slot[2][:16])
            if key:
                return open_slot(uuid, slot, key)
    slot = next(slot for slot in slots if slot[1] == PASSWORD_SLOT)
    if len(slot[2]) > 28:
        read_note(slot[2][28:])
    return open_slot(uuid, slot, password_key(password, slot[2][:28]))


def passcode_pair(master, uuid):
    return X25519PrivateKey.from_private_bytes(derive(master, uuid, b"passcode"))


def master_by_login(uuid, slots, login_uuid, login_master):
    """The master key of a collection, out of the slot that the unlocked login opens."""
    slot = next(slot for slot in slots if slot[1] == LOGIN_SLOT)
    assert slot[2][:16] == login_uuid
    read_note(slot[2][32:])
    secrets_key = derive(login_master, login_uuid, b"secrets")
    key = HKDF(SHA256(), 32, salt=slot[2][16:32], info=b"keychaind 1 login slot").derive(secrets_key)
    return open_slot(uuid, slot, key)


def open_item_key(uuid, item, wraps, pairs, application_password):
    """The item's key by the first wrap that what was given opens; None if there is none."""
    (revision,) = struct.unpack(">Q", wraps[:8])
    rest, key = wraps[8:], None
    while rest:
        factors, owner = rest[0] & ~OF_LOGIN, None
        assert factors in (PASSCODE, APPLICATION_PASSWORD, PASSCODE | APPLICATION_PASSWORD)
        size = 1
        if rest[0] & OF_LOGIN:
            assert factors & PASSCODE
            owner, size = rest[1:17], 17
        pair, start = pairs.get(owner), size
        size += (32 if factors & PASSCODE else 0) + (28 if factors & APPLICATION_PASSWORD else 0)
        header, sealed, rest = rest[:size], rest[size:size + 60], rest[size + 60:]
        assert len(sealed) == 60
        if key or factors & PASSCODE and not pair or factors & APPLICATION_PASSWORD and not application_password:
            continue
        parts = b""
        if factors & PASSCODE:
            parts += encapsulated_key(pair, header[start:start + 32], b"keychaind 1 item key")
        if factors & APPLICATION_PASSWORD:
            parts += password_key(application_password, header[-28:])
        wrapping = HKDF(SHA256(), 32, salt=None, info=b"keychaind 1 item key").derive(parts)
        key = unseal(wrapping, sealed, associated_data(uuid, ITEM_KEY, item, revision, header))
    return key


def read_attributes(packed):
    fields = packed.split(b"\0")
    assert fields.pop() == b"" and len(fields) % 2 == 0
    names = fields[::2]
    assert names == sorted(set(names))
    return dict(zip((name.decode() for name in names), (value.decode() for value in fields[1::2])))


def make_tags(index_key, attributes):
    pairs = {"xdg:schema": "org.freedesktop.Secret.Generic", **attributes}
    return b"".join(sorted(
        hmac.new(index_key, name.encode() + b"\0" + value.encode(), hashlib.sha256).digest()[:8]
        for name, value in pairs.items()
    ))


def split_metadata(metadata):
    secret_revision, created, modified, length = struct.unpack(">QqqI", metadata[:28])
    label, rest, wraps = metadata[28:28 + length], metadata[28 + length:], None
    if secret_revision & OWN_KEY:
        (length,) = struct.unpack(">I", rest[:4])
        wraps, rest = rest[4:4 + length], rest[4 + length:]
    return secret_revision & ~OWN_KEY, created, modified, label, wraps, rest


def read_item(uuid, row, keys, pairs, application_password, complements):
    metadata_key, secrets_key, index_key = keys
    number, revision, tags, sealed_metadata, sealed_secret = row
    metadata = unseal(metadata_key, sealed_metadata, associated_data(uuid, METADATA, number, revision, tags))
    secret_revision, created, modified, label, wraps, packed = split_metadata(metadata)
    attributes = read_attributes(packed)
    assert make_tags(index_key, attributes) == tags
    column = SECRET if wraps is None else PROTECTED_SECRET
    place = associated_data(uuid, column, number, secret_revision)
    secret = unseal(secrets_key, sealed_secret, place)
    if wraps is not None:
        item_key = open_item_key(uuid, number, wraps, pairs, application_password)
        if item_key:
            complements.append(item_key)
        secret = unseal(item_key, secret, place) if item_key else None
    item = {
        "id": number,
        "label": label.decode(),
        "attributes": attributes,
        "created": created,
        "modified": modified,
        "contentType": "",
        "secret": None,
    }
    if secret is not None:
        (type_length,) = struct.unpack(">H", secret[:2])
        item["contentType"] = secret[2:2 + type_length].decode()
        item["secret"] = secret[2 + type_length:].hex()
    return item


def open_file(path, mode="ro"):
    with open(path, "rb") as file:
        start = file.read(100)
    assert start[:16] == b"SQLite format 3\0"
    assert struct.unpack(">I", start[60:64])[0] == FORMAT
    assert start[68:72] == b"KCHN"
    database = sqlite3.connect(f"file:{path}?mode={mode}", uri=True)
    (uuid,) = database.execute("SELECT uuid FROM header").fetchone()
    assert len(uuid) == 16
    slots = database.execute("SELECT id, kind, parameters, wrapped, checksum FROM slot ORDER BY id").fetchall()
    for slot in slots:
        check_slot(uuid, slot)
    return database, uuid, slots


def complement(key):
    return bytes(255 - byte for byte in key)


def main():
    path = sys.argv[1]
    index_key = open(sys.argv[2], "rb").read()
    passwords = sys.stdin.buffer.read().split(b"\n") + [None, None]

    database, uuid, slots = open_file(path)
    label, index_fingerprint, sealed_state = database.execute("SELECT label, index_key, state FROM header").fetchone()
    assert hmac.new(index_key, b"keychaind 2 index fingerprint", hashlib.sha256).digest()[:8] == index_fingerprint

    master = open_master(uuid, slots, passwords[0])
    metadata_key = derive(master, uuid, b"metadata")
    secrets_key = derive(master, uuid, b"secrets")
    integrity_key = derive(master, uuid, b"integrity")

    # By the identifier of `login`; None in `login` itself.
    pairs = {}
    if passwords[1]:
        if len(sys.argv) > 3:
            _, login_uuid, login_slots = open_file(sys.argv[3])
            login_master = open_master(login_uuid, login_slots, passwords[1])
            pairs[login_uuid] = passcode_pair(login_master, login_uuid)
            if any(slot[1] == LOGIN_SLOT for slot in slots):
                assert master_by_login(uuid, slots, login_uuid, login_master) == master
        else:
            pairs[None] = passcode_pair(open_master(uuid, slots, passwords[1]), uuid)

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
    sealed_label, _, last_changes = state[72:].partition(b"\0")
    assert sealed_label.decode() == label
    numbers = [number for _, number in struct.iter_unpack(">QQ", last_changes)]
    assert len(numbers) <= 8 and all(number <= revision for number in numbers)

    keys = [private_bytes(pair) for pair in pairs.values()]
    row_keys = (metadata_key, secrets_key, index_key)
    items = [read_item(uuid, row, row_keys, pairs, passwords[2], keys) for row in rows]
    json.dump(
        {
            "label": label,
            "created": created,
            "modified": modified,
            "items": items,
            "applicationSecret": application_secret(secrets_key, uuid, b"org.example.Mail").hex(),
            "keys": [complement(key).hex() for key in keys],
            "secretsKey": complement(secrets_key).hex(),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
