#!/usr/bin/python3
"""Reads a keychain by docs/file-format.md and docs/log-format.md alone, and checks all that the documents promise.

Usage: read_keychain.py FILE INDEX_KEY_FILE [LOGIN_FILE] < PASSWORDS

PASSWORDS are up to three lines: the password of FILE, or a recovery key in its place; the passcode, which is the
password of LOGIN_FILE, or of FILE without one; the application password of all items that ask for one. Prints the
collection as JSON; bytes are in hexadecimal. The secret of an item that these passwords do not open is null. `keys` are
the complements of the keys that only the passcode gives, `secretsKey` is that of the secrets key: a test searches its
own memory for a key without having it. `applicationSecret` is that of the application org.example.Mail. Any deviation
from the documents is an exception. Needs python3-cryptography and python3-argon2.
"""

import hashlib
import hmac
import json
import pathlib
import struct
import sys

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "LogTests"))
from read_log import Log  # noqa: E402

SLOTS, ITEM, STATE = 1, 2, 3
SECRET, SLOT, PROTECTED_SECRET, ITEM_KEY = 2, 4, 5, 6
PASSWORD_SLOT, RECOVERY_SLOT, LOGIN_SLOT = 1, 3, 6
RECOVERY_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PASSCODE, APPLICATION_PASSWORD, OF_LOGIN = 1, 2, 4
OWN_KEY = 1 << 63


def unseal(key, sealed, uuid, column, number, revision, suffix=b""):
    place = b"KCHN" + struct.pack(">I", 1) + uuid + struct.pack(">QBQ", number, column, revision) + suffix
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], place)


def hkdf(key, salt, info, size=32):
    return HKDF(SHA256(), size, salt=salt, info=b"keychaind 1 " + info).derive(key)


def short_code(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()[:8]


def password_key(password, parameters):
    memory, iterations, lanes, salt = struct.unpack(">III16s", parameters)
    return hash_secret_raw(password, salt, iterations, memory, lanes, 32, Type.ID, 19)


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
    return hkdf(symbols.encode(), salt, b"recovery")


def split_part(data):
    """Bytes that follow their length, and the rest."""
    size = 4 + int.from_bytes(data[:4], "big")
    assert 4 <= size <= len(data)
    return data[4:size], data[size:]


class Keychain:
    def __init__(self, path):
        self.log = Log(pathlib.Path(path).read_bytes())
        assert self.log.header["application"] == int.from_bytes(b"KCHN", "big") and not self.log.damaged
        self.uuid = self.log.header["uuid"]
        first, second = (self.log.records[SLOTS, number] for number in (0, 1))
        assert first["open"] == second["open"] and first["end"] - first["place"] >= 4096
        self.slots = list(self.read_slots(first["open"]))

    def read_slots(self, data):
        highest, count = struct.unpack(">qH", data[:10])
        data = data[10:]
        for _ in range(count):
            start = data[:16]
            parameters, rest = split_part(data[16:])
            wrapped, rest = split_part(rest)
            checksum, data = rest[:8], rest[8:]
            message = start + struct.pack(">I", len(parameters)) + parameters + wrapped
            assert short_code(self.uuid, message) == checksum
            number, kind = struct.unpack(">qq", start)
            assert number <= highest
            yield number, kind, parameters, wrapped
        assert not any(data)

    def slot(self, kind):
        return next((slot for slot in self.slots if slot[1] == kind), None)

    def open_slot(self, slot, key):
        number, kind, parameters, wrapped = slot
        return unseal(key, wrapped, self.uuid, SLOT, number, kind, parameters)

    def open(self, password):
        slot = self.slot(RECOVERY_SLOT)
        key = slot and recovery_key(password, slot[2][:16])
        if key:
            read_note(slot[2][16:])
        else:
            slot = self.slot(PASSWORD_SLOT)
            key = password_key(password, slot[2][:28])
            assert not slot[2][28:] or read_note(slot[2][28:])
        self.use(self.open_slot(slot, key))

    def use(self, master):
        self.master = master
        self.log_key, self.secrets_key, self.passcode_key = (
            hkdf(master, self.uuid, purpose) for purpose in (b"log", b"secrets", b"passcode")
        )

    def master_by_login(self, login):
        slot = self.slot(LOGIN_SLOT)
        assert slot[2][:16] == login.uuid and read_note(slot[2][32:])
        return self.open_slot(slot, hkdf(login.secrets_key, slot[2][16:32], b"login slot"))

    def state(self, index_key):
        """The label, the times, and the number and revision that no item reaches."""
        frame = self.log.records[STATE, 0]
        state, opened = self.log.metadata(frame, self.log_key), frame["open"]
        next_item, revision, count, created, modified = struct.unpack(">QQQqq", state[:40])
        label, _, last_changes = state[40:].partition(b"\0")
        assert opened == state[24:40] + short_code(index_key, b"keychaind 2 index fingerprint") + label
        numbers = [number for _, number in struct.iter_unpack(">QQ", last_changes)]
        assert len(numbers) <= 8 and all(number <= revision for number in numbers)
        assert count == len(self.items()) and {kind for kind, _ in self.log.records} <= {SLOTS, ITEM, STATE}
        return label.decode(), created, modified, next_item, revision + 1

    def items(self):
        return [self.log.records[name] for name in sorted(self.log.records) if name[0] == ITEM]


def item_key(uuid, number, wraps, passcode_keys, application_password):
    """The key of an item by the first wrap that the passwords open; None if there is none."""
    (revision,), rest, key = struct.unpack(">Q", wraps[:8]), wraps[8:], None
    while rest:
        factors, owner, size = rest[0] & ~OF_LOGIN, None, 1
        assert 1 <= factors <= 3
        if rest[0] & OF_LOGIN:
            assert factors & PASSCODE
            owner, size = rest[1:17], 17
        start, private = size, passcode_keys.get(owner)
        size += (32 if factors & PASSCODE else 0) + (28 if factors & APPLICATION_PASSWORD else 0)
        header, sealed, rest = rest[:size], rest[size:size + 60], rest[size + 60:]
        assert len(sealed) == 60
        if key or factors & PASSCODE and not private or factors & APPLICATION_PASSWORD and not application_password:
            continue
        parts = b""
        if factors & PASSCODE:
            pair, public = X25519PrivateKey.from_private_bytes(private), header[start:start + 32]
            info = b"item key" + public + pair.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            parts += hkdf(pair.exchange(X25519PublicKey.from_public_bytes(public)), None, info)
        if factors & APPLICATION_PASSWORD:
            parts += password_key(application_password, header[-28:])
        key = unseal(hkdf(parts, None, b"item key"), sealed, uuid, ITEM_KEY, number, revision, header)
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
        short_code(index_key, name.encode() + b"\0" + value.encode()) for name, value in pairs.items()
    ))


def split_metadata(metadata):
    secret_revision, created, modified = struct.unpack(">Qqq", metadata[:24])
    label, rest = split_part(metadata[24:])
    wraps, rest = split_part(rest) if secret_revision & OWN_KEY else (None, rest)
    return secret_revision & ~OWN_KEY, created, modified, label, wraps, rest


def read_item(keychain, frame, index_key, passcode_keys, application_password, found_keys):
    number, uuid = frame["id"][1], keychain.uuid
    metadata = keychain.log.metadata(frame, keychain.log_key)
    secret_revision, created, modified, label, wraps, packed = split_metadata(metadata)
    attributes = read_attributes(packed)
    assert make_tags(index_key, attributes) == frame["open"][8:]
    column = SECRET if wraps is None else PROTECTED_SECRET
    secret = unseal(keychain.secrets_key, frame["secret"], uuid, column, number, secret_revision)
    if wraps is not None:
        key = item_key(uuid, number, wraps, passcode_keys, application_password)
        secret = unseal(key, secret, uuid, column, number, secret_revision) if key else None
        found_keys += [key] if key else []
    end = 2 + int.from_bytes(secret[:2], "big") if secret else 0
    return {
        "id": number, "label": label.decode(), "attributes": attributes, "created": created, "modified": modified,
        "contentType": secret[2:end].decode() if secret else "", "secret": secret[end:].hex() if secret else None,
    }


def complement(key):
    return bytes(255 - byte for byte in key).hex()


def main():
    keychain, index_key = Keychain(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes()
    password, passcode, application_password = (sys.stdin.buffer.read().split(b"\n") + [None, None])[:3]
    keychain.open(password)

    # By the identifier of `login`; None in `login` itself.
    passcode_keys = {}
    if passcode:
        login = Keychain(sys.argv[3] if len(sys.argv) > 3 else sys.argv[1])
        login.open(passcode)
        passcode_keys[login.uuid if len(sys.argv) > 3 else None] = login.passcode_key
        assert not keychain.slot(LOGIN_SLOT) or keychain.master_by_login(login) == keychain.master

    label, created, modified, next_item, next_revision = keychain.state(index_key)
    keys, items = list(passcode_keys.values()), []
    for frame in keychain.items():
        assert frame["id"][1] < next_item and int.from_bytes(frame["open"][:8], "big") < next_revision
        items.append(read_item(keychain, frame, index_key, passcode_keys, application_password, keys))
    json.dump({
        "label": label, "created": created, "modified": modified, "items": items,
        "applicationSecret": hkdf(keychain.secrets_key, keychain.uuid, b"application org.example.Mail", 64).hex(),
        "keys": [complement(key) for key in keys], "secretsKey": complement(keychain.secrets_key),
    }, sys.stdout)


if __name__ == "__main__":
    main()
