"""audit.py MODE ITEM: reads a protected item after the owner's yes.

make    creates the item, and prints its path
killed  reads it three times, and kills keychaind as soon as the secret is there
full    reads it until the room for records is used up, on a disk that is full
"""

import os
import signal
import sys

from secrets_client import *

VALUE = b"a secret whose release is recorded"

mode, path = sys.argv[1:]
client = Client()
if mode == "make":
    attributes = {**SCHEMA, "service": "bank", "keychain:access-control": "userPresence"}
    print(client.create("Bank", attributes, VALUE)[0])
elif mode == "killed":
    process = client.process()
    client.unlock(path)
    values = [client.read(path) for _ in range(3)]
    os.kill(process, signal.SIGKILL)
    print("the program reads the item, and kills keychaind:", values == [VALUE] * 3)
else:
    print("the owner says yes:", client.unlock(path) == [path])
    for number in range(3000):
        spoils = attempt(client.read, path)
        if isinstance(spoils, Refused) and spoils.args[0].endswith("IOError"):
            break
        if spoils != VALUE:
            # The grant has ended.
            client.unlock(path)
    verdict("a secret whose release cannot be recorded", VALUE, spoils)
    print("it is an error of the disk:", isinstance(spoils, Refused) and spoils.args[0].endswith("IOError"))
