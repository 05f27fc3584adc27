"""Calls every method of the service with random arguments, some of undeclared types.

usage: random_calls.py SEED COUNT
Ends with 0 if each call was answered in time, and nobody else answered.
"""

import random
import sys

import dbus

NAME, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
PREFIX, PROPERTIES = "org.freedesktop.Secret.", "org.freedesktop.DBus.Properties"
# Without Delete and Lock: they would succeed, and most other calls would then be refused.
METHODS = [
    (PREFIX + "Service", "OpenSession", "sv"),
    (PREFIX + "Service", "CreateCollection", "a{sv}s"),
    (PREFIX + "Service", "SearchItems", "a{ss}"),
    (PREFIX + "Service", "Unlock", "ao"),
    (PREFIX + "Service", "GetSecrets", "aoo"),
    (PREFIX + "Service", "ReadAlias", "s"),
    (PREFIX + "Service", "SetAlias", "so"),
    (PREFIX + "Collection", "SearchItems", "a{ss}"),
    (PREFIX + "Collection", "CreateItem", "a{sv}(oayays)b"),
    (PREFIX + "Item", "GetSecret", "o"),
    (PREFIX + "Item", "SetSecret", "(oayays)"),
    (PREFIX + "Session", "Close", ""),
    (PREFIX + "Prompt", "Prompt", "s"),
    (PREFIX + "Prompt", "Dismiss", ""),
    (PROPERTIES, "Get", "ss"),
    (PROPERTIES, "GetAll", "s"),
    (PROPERTIES, "Set", "ssv"),
]
SIGNATURES = ["", "s", "v", "ao", "a{sv}", "(oayays)", "sss", "t", "a{ss}", "aav", "a(ii)", "d", "g"]
ELEMENTS = ["login", "session", "1", "99999999999999999999999", "x" * 200, "_", "default", "0"]
FOLDERS = ["", "/collection", "/collection/login", "/aliases", "/aliases/default", "/session", "/prompt"]
STRINGS = ["", "plain", "default", "/", "../../x", "a\n\u0001", "ä" * 40, "x" * 70_000, "Label", "Attributes"]
STRINGS += [PREFIX + name for name in ("Item", "Collection", "Item.Label", "Item.Attributes", "Collection.Label")]
STRINGS += ["dh-ietf1024-sha256-aes128-cbc-pkcs7"]
choice, below = random.choice, random.randrange


def path():
    return dbus.ObjectPath(ROOT + choice(FOLDERS) + choice(["", "/" + choice(ELEMENTS)]))


def split(signature):
    """Returns the first complete type, and the rest."""
    depth = end = 0
    while True:
        depth += (signature[end] in "({") - (signature[end] in ")}")
        end += 1
        if depth == 0 and signature[end - 1] != "a":
            return signature[:end], signature[end:]


def values(signature):
    result = []
    while signature:
        first, signature = split(signature)
        result.append(value(first))
    return result


def value(kind):
    if kind.startswith("a{"):
        pairs = {value(kind[2]): value(kind[3:-1]) for _ in range(below(4))}
        return dbus.Dictionary(pairs, signature=kind[2:-1])
    if kind[0] == "a":
        count = choice([0, 1, 16, 17, 128, 129, 1000]) if kind == "ay" else below(4)
        return dbus.Array([value(kind[1:]) for _ in range(count)], signature=kind[1:])
    if kind[0] == "(":
        return dbus.Struct(values(kind[1:-1]), signature=kind[1:-1])
    if kind == "v":
        return choice([dbus.String, dbus.ObjectPath])(choice([ROOT, "/"]), variant_level=1)
    return {
        "y": lambda: dbus.Byte(below(256)),
        "b": lambda: dbus.Boolean(below(2)),
        "i": lambda: dbus.Int32(choice([-(2**31), 0, 2**31 - 1])),
        "t": lambda: dbus.UInt64(choice([0, 2**64 - 1])),
        "d": lambda: dbus.Double("nan"),
        "g": lambda: dbus.Signature("a{sv}"),
        "o": path,
        "s": lambda: dbus.String(choice(STRINGS)),
    }[kind]()


def main(seed, count):
    random.seed(seed)
    bus = dbus.SessionBus()
    owner = bus.get_name_owner(NAME)
    for _ in range(count):
        interface, member, signature = choice(METHODS)
        if below(5) == 0:
            signature = choice(SIGNATURES)
        fitting = {"Service": ROOT, "Collection": ROOT + "/aliases/default", "Item": ROOT + "/collection/login/1"}
        target = fitting.get(interface.removeprefix(PREFIX)) if below(5) else None
        try:
            bus.call_blocking(NAME, target or path(), interface, member, signature, values(signature), timeout=30)
        except dbus.DBusException as error:
            assert not error.get_dbus_name().endswith(("NoReply", "Disconnected", "ServiceUnknown")), error
    assert bus.get_name_owner(NAME) == owner


main(int(sys.argv[1]), int(sys.argv[2]))
