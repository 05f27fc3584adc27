#!/bin/bash
# libfido2 1.12.0 reports the end of its own time limit as FIDO_ERR_RX, like a key that was taken out.
#
# Seen with Debian 12's package 1.12.0-2+b1: a key keeps saying that it waits for a touch (CTAPHID_KEEPALIVE, which is
# valid for as long as it likes). After fido_dev_set_timeout's time, fido_dev_get_assert returns FIDO_ERR_RX (-2), as it
# does for a key whose reads fail at once, and neither FIDO_ERR_TIMEOUT nor FIDO_ERR_USER_ACTION_TIMEOUT. A program that
# wants to say "nobody touched the key" has to measure the time itself. The key is a few callbacks of this script.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download --quiet --quiet libfido2-1=1.12.0-2+b1 libcbor0.8=0.8.0-2+b1 2>/dev/null)
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done

LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name libfido2.so.1)") python3 - <<'PYTHON'
import ctypes
import time
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_size_t, c_ubyte, c_void_p

fido = ctypes.CDLL("libfido2.so.1")
for name in "fido_dev_new", "fido_assert_new":
    getattr(fido, name).restype = c_void_p
NAMES = {0: "FIDO_OK", -2: "FIDO_ERR_RX", 0x05: "FIDO_ERR_TIMEOUT", 0x2F: "FIDO_ERR_USER_ACTION_TIMEOUT"}
INIT, CBOR, KEEPALIVE, WAITS_FOR_A_TOUCH = 0x86, 0x90, 0xBB, b"\x02"
CHANNEL = b"\x00\x00\x00\x01"
# authenticatorGetInfo: the version FIDO_2_0, and an AAGUID of zeros.
ABOUT = b"\x00\xa2\x01\x81\x68FIDO_2_0\x03\x50" + bytes(16)
LIMIT = 0.5


class Functions(ctypes.Structure):
    _fields_ = [
        ("open", CFUNCTYPE(c_void_p, c_char_p)),
        ("close", CFUNCTYPE(None, c_void_p)),
        ("read", CFUNCTYPE(c_int, c_void_p, POINTER(c_ubyte), c_size_t, c_int)),
        ("write", CFUNCTYPE(c_int, c_void_p, POINTER(c_ubyte), c_size_t)),
    ]


class Key:
    def __init__(self, is_taken_out):
        self.is_taken_out = is_taken_out
        self.answers = []
        self.asserts = False

    def write(self, _, report, size):
        packet = bytes(report[1:size])
        channel, command, length = packet[:4], packet[4], int.from_bytes(packet[5:7], "big")
        content = packet[7 : 7 + length]
        if command == INIT:
            # Protocol 2, version 0.0.0; it speaks CBOR and no U2F.
            self.answer(channel, INIT, content + CHANNEL + b"\x02\x00\x00\x00\x0c")
        elif command == CBOR and content[0] == 0x04:
            self.answer(channel, CBOR, ABOUT)
        else:
            self.asserts = True
        return size

    def answer(self, channel, command, content):
        first, rest, number = content[:57], content[57:], 0
        self.answers.append((channel + bytes([command]) + len(content).to_bytes(2, "big") + first).ljust(64, b"\0"))
        assert not rest

    def read(self, _, report, size, milliseconds):
        if not self.answers:
            if self.is_taken_out or not self.asserts:
                return -1
            # Real keys say so ten times a second.
            if 0 <= milliseconds < 100:
                time.sleep(milliseconds / 1000)
                return -1
            time.sleep(0.1)
            self.answer(CHANNEL, KEEPALIVE, WAITS_FOR_A_TOUCH)
        packet = self.answers.pop(0)
        ctypes.memmove(report, packet, size)
        return size


def use(is_taken_out):
    key = Key(is_taken_out)
    fields = dict(Functions._fields_)
    functions = Functions(
        fields["open"](lambda path: 1), fields["close"](lambda handle: None), fields["read"](key.read),
        fields["write"](key.write),
    )
    device = c_void_p(fido.fido_dev_new())
    assert fido.fido_dev_set_io_functions(device, ctypes.byref(functions)) == 0
    assert fido.fido_dev_open(device, b"key") == 0
    assertion = c_void_p(fido.fido_assert_new())
    assert fido.fido_assert_set_rp(assertion, b"example.org") == 0
    assert fido.fido_assert_set_clientdata_hash(assertion, bytes(32), c_size_t(32)) == 0
    assert fido.fido_dev_set_timeout(device, int(LIMIT * 1000)) == 0
    start = time.monotonic()
    code = fido.fido_dev_get_assert(device, assertion, None)
    return code, time.monotonic() - start


fido.fido_init(0)
for title, is_taken_out in ("waits for a touch", False), ("is taken out", True):
    code, seconds = use(is_taken_out)
    print(f"libfido2 1.12.0, a key that {title}: {NAMES.get(code, code)} after {seconds:.1f} s of {LIMIT}")
    assert code == -2, code
    assert (seconds >= LIMIT * 0.9) != is_taken_out, seconds
PYTHON
