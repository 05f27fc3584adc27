# wallet.py store|read: 150 secrets in KWallet's Secret Service, in the collection that it serves.
import sys
import time

import secretstorage

bus = secretstorage.dbus_init()


def collection():
    # kwalletd5 serves a wallet a while after it has opened it.
    for _ in range(200):
        for candidate in secretstorage.get_all_collections(bus):
            if candidate.get_label() in ("kdewallet", "Default"):
                return candidate
        time.sleep(0.05)
    sys.exit("no wallet")


wallet = collection()
# The login has opened the wallet, so no dialog comes.
if wallet.is_locked() and wallet.unlock():
    sys.exit("the wallet stays locked")
if sys.argv[1] == "store":
    for number in range(1, 151):
        wallet.create_item(f"Secret {number}", {"proof": "kwallet", "number": str(number)}, f"secret {number} é".encode())
else:
    for number in range(1, 151):
        for item in wallet.search_items({"proof": "kwallet", "number": str(number)}):
            print(number, item.get_label(), "secret", item.get_secret().hex())
