"""idle_memory.py PID: looks for former secrets and passwords in the memory of the idle daemon; needs root.

The person's answers are those of a prompter beside it.
"""

import os
import sys
import time

from secrets_client import *

PID = sys.argv[1]
WINDOW = 24


def regions():
    with open(f"/proc/{PID}/maps") as maps, open(f"/proc/{PID}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(text, 16) for text in line.split()[0].split("-"))
            if "r" in line.split()[1] and "[v" not in line:
                try:
                    yield os.pread(memory.fileno(), end - start, start)
                except OSError:
                    pass


def holds(value):
    """Returns whether a part of a value is in memory."""
    windows = [value[i : i + WINDOW] for i in {0, len(value) // 2, max(0, len(value) - WINDOW)}]
    return any(window in region for region in regions() for window in windows)


def check(name, action, size=300):
    """Stores and removes a value of that size, and makes no further call before it looks for it."""
    value = os.urandom(size)
    attempt(action, value)
    deadline = time.monotonic() + 60
    while (found := holds(value)) and time.monotonic() < deadline:
        time.sleep(0.1)
    print(f"{name}: {'GOT IN' if found else 'held'}", flush=True)


client = Client()
print("a control scan finds a known value:", holds(b"org.freedesktop.secrets.service"[:23]))


def store(control):
    def action(value):
        # A new item each time: replacing a protected one takes a prompt, which keeps the new secret.
        attributes = {**SCHEMA, "control": control, "size": str(len(value))}
        client.create("item", {**attributes, **({"keychain:access-control": control} if control else {})}, value)

    return action


def read(control):
    def action(value):
        (item,) = client.search({"control": control, "size": str(len(value))})
        client.unlock(item)
        client.call(item, SECRET + "Item", "SetSecret", "(oayays)", client.secret(value))
        client.unlock(item)
        return client.read(item)

    return action


def refused(value):
    client.create("item", {**SCHEMA, "keychain:access-control": "nonsense"}, value)


def without_session(value):
    client.call(item, SECRET + "Item", "SetSecret", "(oayays)", ("/", b"", value, "text/plain"))


def unknown_method(value):
    client.call(LOGIN, SECRET + "Collection", "Steal", "(oayays)", client.secret(value))


def master_password(method, count):
    def action(value):
        client.call(ROOT, MASTER_PASSWORDS, method, "o" + "(oayays)" * count, LOGIN, *[client.secret(value)] * count)

    return action


for size in (64, 200, 2 << 10, 100 << 10, 2 << 20):
    for control in ("", "devicePasscode"):
        words = f"{size} bytes" + (", sealed to the passcode" if control else "")
        check(f"stored, {words}", store(control), size)
        check(f"changed and read, {words}", read(control), size)
(item, *_) = client.search({"control": ""})
check("refused", refused)
check("for no session", without_session)
check("for no method", unknown_method)
check("a password to change", master_password("ChangeWithMasterPassword", 2))
client.call(ROOT, SECRET + "Service", "Lock", "ao", [LOGIN])
check("a password to unlock", master_password("UnlockWithMasterPassword", 1))
