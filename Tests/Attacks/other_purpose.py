"""other_purpose.py ASKED: reads an item after the user approved its replacement or deletion."""

import subprocess
import sys

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"what the dialog did not speak of"


def questions():
    with open(sys.argv[1]) as file:
        return len(file.readlines())


def wait_for_question(number):
    """Waits until so many were asked; the kernel tells `tail` of new ones."""
    with subprocess.Popen(["tail", "-n", "+1", "-F", sys.argv[1]], stdout=subprocess.PIPE) as lines:
        for _ in range(number):
            lines.stdout.readline()
        lines.terminate()


attacker = Client()
item, _ = attacker.create("Bank", {**BANK, "keychain:access-control": "userPresence"}, VALUE)
# The user approves the replacement and is then asked for an application password, which nobody types.
both = {**BANK, "keychain:access-control": "userPresence and applicationPassword"}
_, prompt = attacker.create("Bank", both, "harmless")
attacker.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
wait_for_question(2)
spoils = [attempt(attacker.read, item)]
attacker.call(prompt, SECRET + "Prompt", "Dismiss")
spoils.append(attempt(attacker.read, item))
verdict("a yes to replacing", VALUE, spoils)

# Approving the use of an item does not approve its deletion.
unlocked = attacker.unlock(item)
print("the owner reads:", unlocked == [item] and attacker.read(item) == VALUE)
(prompt,) = attacker.call(item, SECRET + "Item", "Delete")
print("deleting asks again:", prompt != "/")
asked = questions()
result = attempt(attacker.set, item, "Item", "Attributes", "a{ss}", BANK)
print("removing the protection asks again:", questions() > asked or isinstance(result, Refused))
stranger = Client()
verdict("a yes to using", VALUE, attempt(stranger.read, item))
