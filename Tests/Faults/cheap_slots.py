"""Seals the passwords of keychains anew, under keys that take a millisecond to derive.

The daemon reads the costs of a derivation from the file, so that with such files it is the daemon as it is shipped, and
hundreds of its starts are not spent on deriving keys.
"""

import ctypes
import hashlib
import hmac
import os
import sqlite3
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# In KiB, iterations and lanes.
CHEAP = (64, 1, 1)
PASSWORD_SLOT = 1
SLOT_COLUMN = 4
ARGON2, ARGON2ID = 64, 2


def password_key(password, costs, salt):
    library = ctypes.CDLL("libgcrypt.so.20")
    library.gcry_check_version(None)
    memory, iterations, lanes = costs
    parameters = (ctypes.c_ulong * 4)(32, iterations, memory, lanes)
    handle = ctypes.c_void_p()
    key = ctypes.create_string_buffer(32)
    none, zero = None, ctypes.c_size_t(0)
    for status in [
        library.gcry_kdf_open(
            ctypes.byref(handle), ARGON2, ARGON2ID, parameters, 4, password, ctypes.c_size_t(len(password)),
            salt, ctypes.c_size_t(len(salt)), none, zero, none, zero,
        ),
        library.gcry_kdf_compute(handle, none),
        library.gcry_kdf_final(handle, ctypes.c_size_t(32), key),
    ]:
        if status:
            raise RuntimeError(f"libgcrypt's error {status}")
    library.gcry_kdf_close(handle)
    return key.raw


def make_cheap(path, password):
    """Changes the password slots of a keychain that nobody uses; returns how many."""
    database = sqlite3.connect(path)
    uuid, = database.execute("SELECT uuid FROM header").fetchone()
    count = 0
    slots = database.execute("SELECT id, kind, parameters, wrapped FROM slot").fetchall()
    for number, kind, parameters, wrapped in slots:
        if kind != PASSWORD_SLOT:
            continue
        place = b"KCHN" + struct.pack(">I", 1) + uuid + struct.pack(">QBQ", number, SLOT_COLUMN, kind)
        costs, salt = struct.unpack(">III", parameters[:12]), parameters[12:28]
        try:
            master = AESGCM(password_key(password, costs, salt)).decrypt(wrapped[:12], wrapped[12:], place + parameters)
        except InvalidTag:
            continue
        parameters = struct.pack(">III", *CHEAP) + parameters[12:]
        nonce = os.urandom(12)
        wrapped = nonce + AESGCM(password_key(password, CHEAP, salt)).encrypt(nonce, master, place + parameters)
        message = struct.pack(">qqI", number, kind, len(parameters)) + parameters + wrapped
        checksum = hmac.new(uuid, message, hashlib.sha256).digest()[:8]
        database.execute(
            "UPDATE slot SET parameters = ?, wrapped = ?, checksum = ? WHERE id = ?",
            (parameters, wrapped, checksum, number),
        )
        count += 1
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return count
