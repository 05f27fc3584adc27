"""Seals the passwords of keychains anew, under keys that take a millisecond to derive.

The daemon reads the costs of a derivation from the file, so that with such files it is the daemon as it is shipped, and
hundreds of its starts are not spent on deriving keys.
"""

import ctypes
import os
import pathlib
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Scripts"))
from slots import PASSWORD_SLOT, SLOTS, Log, pack_slots, read_log, read_slots  # noqa: E402
from write_log import ERASES, append  # noqa: E402

# In KiB, iterations and lanes.
CHEAP = (64, 1, 1)
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
    """Changes the password slots of a keychain that no program uses; returns how many."""
    log = read_log(path)
    uuid, old = log.header["uuid"], log.records[SLOTS, 0]["open"]
    highest, slots = read_slots(old)
    master, new, count = None, [], 0
    for number, kind, parameters, wrapped in slots:
        place = b"KCHN" + struct.pack(">I", 1) + uuid + struct.pack(">QBQ", number, SLOT_COLUMN, kind)
        if kind == PASSWORD_SLOT:
            costs, salt = struct.unpack(">III", parameters[:12]), parameters[12:28]
            try:
                key = AESGCM(password_key(password, costs, salt))
                master = key.decrypt(wrapped[:12], wrapped[12:], place + parameters)
            except InvalidTag:
                pass
            else:
                parameters, nonce = struct.pack(">III", *CHEAP) + parameters[12:], os.urandom(12)
                key = AESGCM(password_key(password, CHEAP, salt))
                wrapped = nonce + key.encrypt(nonce, master, place + parameters)
                count += 1
        new.append((number, kind, parameters, wrapped))
    if count:
        log_key = HKDF(SHA256(), 32, salt=uuid, info=b"keychaind 1 log").derive(master)
        opened = pack_slots(uuid, highest, new, len(old))
        append(path, log_key, [(SLOTS, number, opened, b"", b"") for number in (0, 1)], ERASES)
    return count
