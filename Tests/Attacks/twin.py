"""Creates an unprotected item with a protected one's attributes, so that its owner saves the next password there."""

from secrets_client import *

BANK = {**SCHEMA, "service": "twin"}
NEXT = b"the next password"

owner, attacker = Client(), Client()
item, _ = owner.create("Bank", {**BANK, "keychain:access-control": "userPresence"}, "the first password")
twin, _ = attacker.create("Bank", BANK, "bait", replace=False)
saved, prompt = owner.create("Bank", BANK, NEXT)
if prompt != "/":
    _, (_, saved) = owner.run(prompt)
print("the password is saved in the protected item:", saved == item)
verdict("the twin", NEXT, [attempt(attacker.read, found) for found in attacker.search(BANK)])
print("the owner reads:", owner.unlock(item) == [item] and owner.read(item) == NEXT)
