"""Appends a commit to a log by docs/log-format.md, as another program with its key would."""

import fcntl
import os
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from read_log import Log, mark

ENDS_COMMIT, REMOVES, ERASES = 1, 2, 4


def append(path, key, changes, flags=0):
    """Stores changes, each with the record's kind and number, and its open part, metadata and secret."""
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        data = file.read()
        log = Log(data)
        last = log.frames[-1]
        sequence, end, chain, commit = last["sequence"], last["end"], last["head"][80:], b""
        assert not any(data[end:])
        for index, (kind, number, opened, metadata, secret) in enumerate(changes):
            old = log.records.get((kind, number))
            ends = ENDS_COMMIT if index == len(changes) - 1 else 0
            head = b"KCFR" + struct.pack(
                ">BBxxIIIIQQQ", kind, flags | ends, index, len(opened), len(metadata) + 28, len(secret),
                sequence + index + 1, number, old["place"] if old else 0,
            ) + chain
            nonce = os.urandom(12)
            sealed = nonce + AESGCM(key).encrypt(nonce, metadata, log.file + head + secret[-16:] + opened)
            body = opened + sealed + secret
            head += mark(body)
            chain = mark(log.file + head)
            commit += head + chain + body
        file.seek(end)
        file.write(commit + bytes(max(0, 4096 - len(data) + end + len(commit))))
        names = {(kind, number) for kind, number, *_ in changes}
        for frame in log.frames:
            if flags & ERASES and frame["id"] in names:
                file.seek(frame["place"] + 96)
                file.write(bytes(frame["end"] - frame["place"] - 96))
        file.flush()
        os.fsync(file.fileno())
