"""domain_calls.py delete | restore FILE: asks to delete the keychain `login`, or to restore a backup over it."""

import sys

from secrets_client import *

client = Client()
if sys.argv[1] == "delete":
    result = attempt(client.call, LOGIN, SECRET + "Collection", "Delete")
else:
    client.connection = open_dbus_connection("SESSION", enable_fds=True)
    with open(sys.argv[2], "rb") as backup:
        result = attempt(client.call, "/org/keychaind/Backups", "org.keychaind.Backups1", "Restore", "h", backup)
if isinstance(result, Refused) or result[0] == "/":
    sys.exit(f"refused: {result}")
dismissed, _ = client.run(result[0])
sys.exit("dismissed" if dismissed else 0)
