"""alias.py plant | store | steal: points `default` at a keychain with a password chosen by the attacker."""

import sys

from secrets_client import *

PASSCODE, FINGER = b"for the passcode alone", b"for a finger alone"
BANK, DOOR = {**SCHEMA, "service": "bank"}, {**SCHEMA, "service": "door"}
client = Client()

if sys.argv[1] == "plant":
    properties = {SECRET + "Collection.Label": ("s", "Helper")}
    (helper,) = client.call(
        ROOT, MASTER_PASSWORDS, "CreateWithMasterPassword", "a{sv}(oayays)", properties, client.secret("known")
    )
    client.call(ROOT, SECRET + "Service", "SetAlias", "so", "default", helper)
elif sys.argv[1] == "store":
    default = ROOT + "/aliases/default"
    for attributes, control, value in [(BANK, "devicePasscode", PASSCODE), (DOOR, "biometryAny", FINGER)]:
        attempt(client.create, control, {**attributes, "keychain:access-control": control}, value, collection=default)
    print("stored for the passcode:", len(client.search(BANK)) == 1)
elif sys.argv[1] == "read":
    (item,) = client.search(BANK)
    print("the owner reads:", client.unlock(item) == [item] and client.read(item) == PASSCODE)
else:
    (helper,) = set(client.get(ROOT, "Service", "Collections")) - {LOGIN, SESSION}
    client.call(ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", helper, client.secret("known"))
    spoils = []
    for attributes in (BANK, DOOR):
        for item in client.search(attributes):
            attempt(client.unlock, item)
            spoils.append(attempt(client.read, item))
    verdict("the passcode's item in a keychain of the attacker's", PASSCODE, spoils)
    # Without a reader the policy cannot be satisfied, but the item is sealed only under its keychain's key.
    verdict("the finger's item in a keychain of the attacker's", b"unsealed", *[
        "unsealed" for _ in client.search(DOOR)
    ])
