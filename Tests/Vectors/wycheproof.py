"""Writes the wycheproof-*.txt files from a folder with the JSON files of Project Wycheproof.

python3 wycheproof.py FOLDER
"""

import json
import pathlib
import sys

SMALL = {"WeakHash", "SmallModulus"}


def tests(path, count):
    """The tests of a file with their groups: of each flag and result in turn, until there are enough."""
    piles = {}
    for group in json.loads(path.read_text())["testGroups"]:
        for test in group["tests"]:
            if test["result"] == "acceptable":
                if not set(test["flags"]) & SMALL:
                    continue
                test["result"] = "valid"
            piles.setdefault((test["result"], *sorted(test["flags"])), []).append((group, test))
    chosen = []
    while any(piles.values()) and len(chosen) < count:
        for pile in piles.values():
            if pile and len(chosen) < count:
                chosen.append(pile.pop(0))
    return sorted(chosen, key=lambda pair: pair[1]["tcId"])


def octets(der, path):
    """The contents of the DER value at a path of indexes."""
    for index in path:
        rest = der
        for _ in range(index + 1):
            size, start = rest[1], 2
            if size >= 0x80:
                start += size - 0x80
                size = int.from_bytes(rest[2:start], "big")
            der, rest = rest[start : start + size], rest[start + size :]
    return der


def find(folder, name):
    return next(folder.rglob(name))


def write(name, cases):
    lines = ["# Made by wycheproof.py."]
    for case in cases:
        lines += ["", *(f"{key} = {value}".rstrip() for key, value in case.items())]
    pathlib.Path(__file__).with_name(f"wycheproof-{name}.txt").write_text("\n".join(lines) + "\n")


def sha(group):
    return group["sha"].replace("-", "")


def ecdsa(folder):
    for curve, digest in (("256", "sha256"), ("384", "sha384"), ("521", "sha512"), ("256", "sha512")):
        for suffix, form in (("", "X962"), ("_p1363", "RFC4754")):
            for group, test in tests(find(folder, f"ecdsa_secp{curve}r1_{digest}{suffix}_test.json"), 40):
                yield {
                    "name": f"{curve} {digest}{suffix} {test['tcId']} {test['comment']}",
                    "algorithm": f"algid:sign:ECDSA:message-{form}:{sha(group)}",
                    "key": group["publicKey"]["uncompressed"],
                    "message": test["msg"],
                    "signature": test["sig"],
                    "result": test["result"],
                }


def ecdh(folder):
    for curve in ("256", "384", "521"):
        for _, test in tests(find(folder, f"ecdh_secp{curve}r1_ecpoint_test.json"), 40):
            size = (int(curve) + 7) // 8
            yield {
                "name": f"{curve} {test['tcId']} {test['comment']}",
                "private": test["private"].rjust(2 * size, "0")[-2 * size :],
                "public": test["public"],
                "shared": test["shared"],
                "result": test["result"],
            }


def rsa(folder):
    files = (
        ("rsa_signature_2048_sha256_test.json", "PKCS1v15:{0}", 40),
        ("rsa_signature_2048_sha512_test.json", "PKCS1v15:{0}", 10),
        ("rsa_pss_2048_sha256_mgf1_32_test.json", "PSS:{0}:{0}:32", 30),
        ("rsa_pss_2048_sha1_mgf1_20_test.json", "PSS:{0}:{0}:20", 10),
    )
    for file, padding, count in files:
        for group, test in tests(find(folder, file), count):
            yield {
                "name": f"{file} {test['tcId']} {test['comment']}",
                "algorithm": "algid:sign:RSA:message-" + padding.format(sha(group)),
                "key": group["keyAsn"],
                "message": test["msg"],
                "signature": test["sig"],
                "result": test["result"],
            }


def oaep(folder):
    files = (
        ("rsa_oaep_2048_sha1_mgf1sha1_test.json", 14),
        ("rsa_oaep_2048_sha256_mgf1sha256_test.json", 22),
        ("rsa_oaep_misc_test.json", 775),
    )
    for file, count in files:
        sizes = set()
        for group, test in tests(find(folder, file), count):
            # Apple's algorithms have no label, and one hash function.
            if group["sha"] != group["mgfSha"] or test["label"] and test["result"] == "valid":
                continue
            if "misc" in file:
                kind = (group["keysize"], group["sha"])
                if kind in sizes or sha(group) not in ("SHA1", "SHA224", "SHA256", "SHA384", "SHA512"):
                    continue
                sizes.add(kind)
            yield {
                "name": f"{file} {test['tcId']} {test['comment']}",
                "algorithm": f"algid:encrypt:RSA:OAEP:{sha(group)}",
                "key": octets(bytes.fromhex(group["privateKeyPkcs8"]), (0, 2)).hex(),
                "message": test["msg"],
                "ciphertext": test["ct"],
                "result": test["result"],
            }


folder = pathlib.Path(sys.argv[1])
write("ecdsa", ecdsa(folder))
write("ecdh", ecdh(folder))
write("rsa-signature", rsa(folder))
write("rsa-oaep", oaep(folder))
