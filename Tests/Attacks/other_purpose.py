"""other_purpose.py ASKED: reads under a yes that was given to replace an item, or to delete it."""

import sys
import time

from secrets_client import *

BANK = {**SCHEMA, "service": "bank"}
VALUE = b"what the dialog did not speak of"


def questions():
    with open(sys.argv[1]) as file:
        return len(file.readlines())


def wait_for_question(number):
    deadline = time.monotonic() + 60
    while questions() < number and time.monotonic() < deadline:
        time.sleep(0.02)


attacker = Client()
item, _ = attacker.create("Bank", {**BANK, "keychain:access-control": "userPresence"}, VALUE)
# The person says yes to "replace", and is then asked for a password of the item's own, which nobody answers.
both = {**BANK, "keychain:access-control": "userPresence and applicationPassword"}
_, prompt = attacker.create("Bank", both, "harmless")
attacker.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
wait_for_question(2)
spoils = [attempt(attacker.read, item)]
attacker.call(prompt, SECRET + "Prompt", "Dismiss")
spoils.append(attempt(attacker.read, item))
verdict("a yes to replacing", VALUE, spoils)

# A yes to the use of it is none to its end.
unlocked = attacker.unlock(item)
print("the owner reads:", unlocked == [item] and attacker.read(item) == VALUE)
(prompt,) = attacker.call(item, SECRET + "Item", "Delete")
print("deleting asks again:", prompt != "/")
asked = questions()
result = attempt(attacker.set, item, "Item", "Attributes", "a{ss}", BANK)
print("so does taking the protection off:", questions() > asked or isinstance(result, Refused))
stranger = Client()
verdict("a yes to using", VALUE, attempt(stranger.read, item))
