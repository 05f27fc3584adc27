"""Makes an unprotected item with the attributes of a protected one, for its owner to save the next password in."""

from secrets_client import *

BANK = {**SCHEMA, "service": "twin"}
NEXT = b"the next password"

owner, attacker = Client(), Client()
item, _ = owner.create("Bank", {**BANK, "keychain:access-control": "userPresence"}, "the first password")
twin, _ = attacker.create("Bank", BANK, "bait", replace=False)
saved, prompt = owner.create("Bank", BANK, NEXT)
if prompt != "/":
    _, (_, saved) = owner.run(prompt)
print("it is saved in the protected item:", saved == item)
verdict("the twin", NEXT, [attempt(attacker.read, found) for found in attacker.search(BANK)])
print("the owner reads:", owner.unlock(item) == [item] and owner.read(item) == NEXT)
