#!/usr/bin/python3
"""Reads an archive by docs/archive-format.md alone.

Usage: read_archive.py FILE PASSWORD

Prints a line for each keychain and item, with the sizes of secrets. Any deviation from the document is an exception.
Needs python3-cryptography and python3-argon2.
"""

import hashlib
import struct
import sys

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HEADER, CHUNK = 68, 65536 + 16
KEYCHAIN, ITEM, END = 1, 2, 3


def derive(master, salt, name, size):
    return HKDF(SHA256(), size, salt, b"keychaind archive 1 " + name).derive(master)


def content(file, password):
    header = file.read(HEADER)
    magic, version, memory, iterations, lanes, salt, _, check = struct.unpack(">4s4I16sQ16s", header[:60])
    assert magic == b"KCHA" and version == 1
    assert hashlib.sha256(header[:60]).digest()[:8] == header[60:]
    master = hash_secret_raw(password, salt, iterations, memory, lanes, 32, Type.ID, 0x13)
    assert derive(master, salt, b"check", 16) == check
    key = AESGCM(derive(master, salt, b"chunks", 32))
    chunks = []
    while chunk := file.read(CHUNK):
        chunks.append(chunk)
    result = b""
    for number, chunk in enumerate(chunks):
        nonce = b"\0\0\0" + struct.pack(">QB", number, number == len(chunks) - 1)
        result += key.decrypt(nonce, chunk, header)
    return result


def text(fields):
    (size,) = struct.unpack(">I", fields[:4])
    return fields[4 : 4 + size].decode(), fields[4 + size :]


def main(path, password):
    with open(path, "rb") as file:
        rest = content(file, password.encode())
    keychains = items = 0
    while True:
        kind, size = struct.unpack(">BI", rest[:5])
        fields, rest = rest[5 : 5 + size], rest[5 + size :]
        if kind == END:
            assert (keychains, items) == struct.unpack(">IQ", fields) and not rest
            return
        label, fields = text(fields[16:])
        if kind == KEYCHAIN:
            keychains += 1
            print("keychain", label)
            continue
        assert kind == ITEM
        items += 1
        (count,) = struct.unpack(">I", fields[:4])
        fields, attributes = fields[4:], {}
        for _ in range(count):
            name, fields = text(fields)
            attributes[name], fields = text(fields)
        content_type, secret = text(fields)
        print("item", label, attributes, content_type, len(secret))


main(*sys.argv[1:])
