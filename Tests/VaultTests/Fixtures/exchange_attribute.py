#!/usr/bin/python3
"""Replaces an attribute of an item and seals it with the password, as a program of a later version could.

Usage: exchange_attribute.py FILE INDEX_KEY_FILE ITEM OLD_NAME NEW_NAME NEW_VALUE < PASSWORD
"""

import pathlib
import sys

import read_keychain as reader
from write_log import append


def main():
    path, index_path, item, old_name, new_name, new_value = sys.argv[1:]
    keychain = reader.Keychain(path)
    keychain.open(sys.stdin.buffer.read())
    frame = keychain.log.records[reader.ITEM, int(item)]
    metadata = keychain.log.metadata(frame, keychain.log_key)
    packed = reader.split_metadata(metadata)[-1]
    attributes = reader.read_attributes(packed)
    del attributes[old_name]
    attributes[new_name] = new_value
    pairs = sorted((name.encode(), value.encode()) for name, value in attributes.items())
    metadata = metadata[:len(metadata) - len(packed)] + b"".join(name + b"\0" + value + b"\0" for name, value in pairs)
    opened = frame["open"][:8] + reader.make_tags(pathlib.Path(index_path).read_bytes(), attributes)
    append(path, keychain.log_key, [(*frame["id"], opened, metadata, frame["secret"])])


main()
