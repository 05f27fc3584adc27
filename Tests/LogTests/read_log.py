#!/usr/bin/python3
"""Reads a log by docs/log-format.md alone. Needs python3-cryptography.

Usage: read_log.py FILE KEY_IN_HEXADECIMAL

Prints the log as JSON, bytes in hexadecimal. Any deviation from the page is an exception, but a damaged record is null.
"""

import hashlib
import json
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def mark(data):
    return hashlib.sha256(data).digest()[:16]


def read_header(data):
    for start in 0, 4096:
        header = data[start:start + 80]
        if header[:8] == b"KCHNLOG\0" and mark(header[:64]) == header[64:]:
            form, application, uuid, _, base, horizon = struct.unpack(">II16s16sQQ", header[8:64])
            assert form == 1
            return {"application": application, "uuid": uuid, "base": base, "horizon": horizon}, header[64:]
    raise ValueError("no header")


def read_frame(data, place, last, file):
    head = data[place:place + 96]
    if len(head) < 96 or head[:4] != b"KCFR" or mark(file + head[:80]) != head[80:]:
        return None
    kind, flags, index, *sizes, sequence, number, older = struct.unpack(">BBxxIIIIQQQ", head[4:48])
    rest = data[place + 96:place + 96 + sum(sizes)]
    if sizes[1] < 28 or sequence <= last or number >= 1 << 56:
        return None
    sealed, secret = sizes[0], sizes[0] + sizes[1]
    return {"id": (kind, number), "flags": flags, "index": index, "sequence": sequence, "older": older, "head": head,
            "place": place, "end": place + 96 + sum(sizes), "open": rest[:sealed], "sealed": rest[sealed:secret],
            "secret": rest[secret:], "intact": mark(rest) == head[64:80], "cut": len(rest) < sum(sizes)}


def read_frames(data, file):
    """Returns the frames, with None for damage, and whether the file was cut off."""
    found, place, body, last = [], 4176, 4176, 0
    while any(data[place:]):
        frame = read_frame(data, place, last, file)
        if frame is None or frame["cut"]:
            found.append(None)
            behind = [(start, frame) for start in range(body, len(data))
                      if (frame := read_frame(data, start, last, file))]
            place = next((start for start, frame in behind if not frame["cut"]), None)
            if place is None:
                return found + [frame for _, frame in behind[-1:]], bool(behind) or any(data[-64:])
            continue
        found.append(frame)
        place, body, last = frame["end"], place + 96, frame["sequence"]
    return found, len(data) - place < 64


class Log:
    """`frames` has those that count, `records` the last one of each present record."""

    def __init__(self, data):
        self.header, self.file = read_header(data)
        commits, chain, self.damaged = [[]], self.file, False
        frames, is_cut = read_frames(data, self.file)
        for frame in frames:
            if frame is None:
                self.damaged = True
                continue
            begin = frame["sequence"] - frame["index"]
            if commits[-1] and begin != commits[-1][0]["sequence"] - commits[-1][0]["index"]:
                commits.append([])
            assert self.damaged or frame["head"][48:64] == chain
            chain = frame["head"][80:]
            commits[-1].append(frame)
        last = commits[-1]
        whole = [frame["index"] for frame in last] == list(range(len(last))) and all(frame["intact"] for frame in last)
        if last and not is_cut and not (whole and last[-1]["flags"] & 1):
            commits.pop()
        self.frames = sum(commits, [])
        latest = {frame["id"]: frame for frame in self.frames}
        self.records = {name: frame for name, frame in latest.items() if not frame["flags"] & 2}

    def metadata(self, frame, key):
        """Opens the seal of a frame; raises InvalidTag."""
        place = self.file + frame["head"][:64] + frame["secret"][-16:] + frame["open"]
        return AESGCM(key).decrypt(frame["sealed"][:12], frame["sealed"][12:], place)


def main():
    log, key = Log(open(sys.argv[1], "rb").read()), bytes.fromhex(sys.argv[2])
    shown = {}
    for (kind, number), frame in log.records.items():
        parts = None
        if not frame["cut"]:
            try:
                metadata = log.metadata(frame, key)
                parts = [frame["sequence"], frame["open"].hex(), metadata.hex(), frame["secret"].hex()]
            except InvalidTag:
                pass
        shown[f"{kind}/{number}"] = parts
    header = {**log.header, "uuid": log.header["uuid"].hex()}
    print(json.dumps({**header, "damaged": log.damaged, "records": shown}))


if __name__ == "__main__":
    main()
