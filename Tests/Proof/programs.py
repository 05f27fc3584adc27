# programs.py store|read: python-keyring and SecretStorage.
import sys

import keyring.backends.SecretService
import secretstorage

keyring.set_keyring(keyring.backends.SecretService.Keyring())
bus = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(bus)


def binary(number):
    return bytes((number * 7 + step) % 256 for step in range(number))


if sys.argv[1] == "store":
    for number in range(1, 151):
        keyring.set_password(f"service {number}", "anna", f"keyring {number} ü")
    for number in range(1, 49):
        collection.create_item(
            f"Binary {number}\n", {"application": "proof", "binary": str(number)}, binary(number),
            content_type="application/octet-stream",
        )
else:
    for number in range(1, 151):
        print("keyring", number, keyring.get_password(f"service {number}", "anna"))
    for number in range(1, 49):
        for item in collection.search_items({"application": "proof", "binary": str(number)}):
            print("SecretStorage", number, repr(item.get_label()), item.get_created(), item.get_secret().hex())
