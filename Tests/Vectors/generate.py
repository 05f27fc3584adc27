#!/usr/bin/env python3
"""Writes the vectors generated-*.txt beside this script, with Python's integers and the package `cryptography`.

The inputs are digests of counters, so that every run writes the same files.
"""

import hashlib
import pathlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HERE = pathlib.Path(__file__).parent


def pi(bits):
    """The integer part of 2^bits times pi, by Machin's formula."""
    guard = 64

    def arctan_of_inverse(x):
        term = total = (1 << (bits + guard)) // x
        divisor, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)) >> guard


# The formulas of RFC 2409, section 6.2, and RFC 3526, section 2, rather than their digits: a slip would not go unseen.
GROUPS = {
    "oakley2": (128, 2**1024 - 2**960 - 1 + 2**64 * (pi(894) + 129093)),
    "modp1536": (192, 2**1536 - 2**1472 - 1 + 2**64 * (pi(1406) + 741804)),
}


def stream(label, count):
    """Bytes that depend on a label only."""
    blocks = (hashlib.sha256(f"{label} {block}".encode()).digest() for block in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def minimal(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def session_key(shared):
    return HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=b"").derive(shared)


def encrypt_blocks(key, iv, blocks):
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return encryptor.update(blocks) + encryptor.finalize()


def pad(plaintext):
    padding = 16 - len(plaintext) % 16
    return plaintext + bytes([padding]) * padding


def session(name, group, fits):
    """The first session of a group that fits."""
    size, prime = GROUPS[group]
    for attempt in range(1_000_000):
        label = f"{name} {group} {attempt}"
        mine = int.from_bytes(stream(label + " mine", 32), "big")
        theirs = int.from_bytes(stream(label + " theirs", 32), "big")
        public, peer = pow(2, mine, prime), pow(2, theirs, prime)
        shared = pow(peer, mine, prime).to_bytes(size, "big")
        if fits(public.to_bytes(size, "big"), peer.to_bytes(size, "big"), shared):
            break
    iv, plaintext = stream(label + " iv", 16), stream(label + " plaintext", attempt % 40)
    return {
        "name": name,
        "group": group,
        "exponent": mine.to_bytes(32, "big").hex(),
        "peer": minimal(peer).hex(),
        "public": public.to_bytes(size, "big").hex(),
        "shared": shared.hex(),
        "iv": iv.hex(),
        "plaintext": plaintext.hex(),
        "ciphertext": encrypt_blocks(session_key(shared), iv, pad(plaintext)).hex(),
    }


def sessions():
    kinds = {
        "most significant bits set": lambda public, peer, shared: public[0] & peer[0] & shared[0] & 0x80,
        "most significant bits clear": lambda public, peer, shared: 0 < max(public[0], peer[0], shared[0]) < 0x80,
        "shared secret with a leading zero byte": lambda public, peer, shared: shared[0] == 0,
        "peer's key with a leading zero byte": lambda public, peer, shared: peer[0] == 0,
        "own key with a leading zero byte": lambda public, peer, shared: public[0] == 0,
    }
    yield from (session(name, group, fits) for group in GROUPS for name, fits in kinds.items())


def padding_case(name, padded):
    iv, shared = stream(name + " iv", 16), stream(name + " shared", 128)
    case = {"name": name, "shared": shared.hex(), "iv": iv.hex()}
    case["ciphertext"] = encrypt_blocks(session_key(shared), iv, padded).hex()
    return case


def right_padding():
    for count in [*range(17), 31, 32, 33, 255]:
        plaintext = stream(f"plaintext {count}", count)
        yield padding_case(f"{count} bytes", pad(plaintext)) | {"plaintext": plaintext.hex()}


def wrong_padding():
    for blocks in (1, 2):
        text = stream("wrong", 16 * blocks)
        for last in (0, 17, 18, 32, 127, 128, 240, 255):
            yield padding_case(f"{blocks} blocks that end in {last}", text[:-1] + bytes([last]))
            yield padding_case(f"{blocks} blocks of {last}", bytes([last]) * 16 * blocks)
        for padding in (2, 3, 8, 15, 16):
            for wrong in sorted({2, padding // 2 + 1, padding}):
                padded = bytearray(text[:-padding] + bytes([padding]) * padding)
                padded[-wrong] ^= 1
                yield padding_case(f"{blocks} blocks, padding {padding}, wrong at {wrong} from the end", bytes(padded))


def argon2id():
    parameters = [
        (8, 1, 1), (9, 1, 1), (16, 1, 2), (31, 2, 1), (33, 1, 4), (50, 4, 4), (64, 2, 3), (128, 1, 16), (255, 3, 5),
        (1024, 1, 1), (1027, 2, 7), (4096, 3, 4),
    ]  # fmt: skip
    for number, (memory, iterations, lanes) in enumerate(parameters):
        count, salt = [32, 4, 16, 64, 33, 63][number % 6], stream(f"salt {number}", [16, 8, 64, 17][number % 4])
        password = stream(f"password {number}", [10, 1, 33, 200][number % 4])
        derived = Argon2id(salt=salt, length=count, iterations=iterations, lanes=lanes, memory_cost=memory).derive(password)
        yield {
            "name": f"{memory} KiB, {iterations} iterations, {lanes} lanes",
            "memory": str(memory),
            "iterations": str(iterations),
            "lanes": str(lanes),
            "password": password.hex(),
            "salt": salt.hex(),
            "pepper": "",
            "associated": "",
            "count": str(count),
            "derived": derived.hex(),
        }


def hkdf():
    for number, count in enumerate([1, 16, 31, 32, 33, 64, 65, 255 * 32]):
        key, salt, info = (stream(f"{part} {number}", 7 * number + 1) for part in ("key", "salt", "info"))
        derived = HKDF(algorithm=hashes.SHA256(), length=count, salt=salt, info=info).derive(key)
        yield {
            "name": f"{count} bytes",
            "key": key.hex(),
            "salt": salt.hex(),
            "info": info.hex(),
            "count": str(count),
            "derived": derived.hex(),
        }


def x25519_pair(label):
    private = X25519PrivateKey.from_private_bytes(stream(label, 32))
    return private, private.public_key().public_bytes_raw()


def x25519():
    prime = 2**255 - 19
    odd = {
        "nearly the largest coordinate": prime - 2,
        "a coordinate past the prime": prime + 3,
        "all bits set": 2**256 - 1,
        "the highest bit, which does not count": 2**255 + 9,
    }
    coordinates = {f"random {number}": stream(f"coordinate {number}", 32) for number in range(8)}
    coordinates |= {name: number.to_bytes(32, "little") for name, number in odd.items()}
    for name, coordinate in coordinates.items():
        private, public = x25519_pair(f"scalar {name}")
        yield {
            "name": name,
            "scalar": private.private_bytes_raw().hex(),
            "public": public.hex(),
            "coordinate": coordinate.hex(),
            "product": private.exchange(X25519PublicKey.from_public_bytes(coordinate)).hex(),
        }


def encapsulation():
    for number in range(6):
        owner, owner_public = x25519_pair(f"owner {number}")
        pair, pair_public = x25519_pair(f"pair {number}")
        purpose = stream(f"purpose {number}", 5 * number)
        shared = pair.exchange(owner.public_key())
        info = purpose + pair_public + owner_public
        yield {
            "name": f"purpose of {len(purpose)} bytes",
            "owner": owner.private_bytes_raw().hex(),
            "public": pair_public.hex(),
            "purpose": purpose.hex(),
            "key": HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(shared).hex(),
        }


def write(name, title, cases):
    lines = [f"# {title}, written by generate.py."]
    for case in cases:
        lines += ["", *(f"{key} = {value}".rstrip() for key, value in case.items())]
    (HERE / f"generated-{name}.txt").write_text("\n".join(lines) + "\n")


write("sessions", "Sessions of dh-ietf1024-sha256-aes128-cbc-pkcs7 and of the GCR prompter's exchange", sessions())
write("right-padding", "Session ciphertexts with their plaintexts", right_padding())
write("wrong-padding", "Session ciphertexts whose padding is wrong", wrong_padding())
write("argon2id", "Argon2id", argon2id())
write("hkdf-sha256", "HKDF with SHA-256", hkdf())
write("x25519", "X25519, with coordinates that are not in the range of the prime", x25519())
write("encapsulation", "Keys that are made for the owner of an X25519 key", encapsulation())
