"""locked_memory.py: has keychaind keep as many passwords as it may, and looks at what is left for other programs."""

from secrets_client import *

AUTHENTICATION = "org.keychaind.Authentication1"
ALGORITHM = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
VALUE = b"stored beside an attack"


def fill(client, size):
    """Gives passwords to contexts, shorter ones when there is no room; returns the size of the last."""
    while True:
        try:
            context = client.call("/org/keychaind/Authentication", AUTHENTICATION, "CreateContext")[0]
        except Refused:
            return size
        while size > 0:
            try:
                password = client.secret(b"x" * size)
                client.call(context, AUTHENTICATION + ".Context", "SetCredential", "(oayays)", password)
                break
            except Refused:
                size //= 2


def guess(client):
    """Sends wrong passwords of the largest size for `login`, without waiting for the answers."""
    for _ in range(40):
        password = client.secret(b"x" * 65536)
        message = client.message(ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", LOGIN, password)
        client.connection.send(message)


other = Client()
attackers = [Client() for _ in range(12)]
size = 1024
for attacker in attackers:
    size = fill(attacker, size)
guess(attackers[0])
path, prompt = other.create("Bank", SCHEMA, VALUE)
print("another program stores and reads:", prompt == "/" and other.read(path) == VALUE)
_, session = other.call(ROOT, SECRET + "Service", "OpenSession", "sv", ALGORITHM, ("ay", b"\5" * 128))
print("another program opens an encrypted session:", session != "/")
