"""What sandboxes see after a restart of the daemon."""

from sandboxes import *
from secrets_client import *

host = Client()
mail, new = sandboxed_clients("org.example.Mail", "org.example.New")
labels = "[c.get(item, 'Item', 'Label') for item in c.search({})]"
print("a confirmed one:", sorted(mail.run(labels)) == ["of before", "stored"])
print("a new one:", new.run(labels) == ["of new"])

# A keychain that was never unlocked since the start: its items are known by their tags alone.
locked = Client()
locked.call(ROOT, SECRET + "Service", "Lock", "ao", [LOGIN])
print("its own in a locked keychain:", len(mail.run("c.search({})")) == 2)
item = mail.run("c.search({})")[0]
print("an item in a locked keychain:", mail.run(f"c.get({item!r}, 'Item', 'Locked')") is True)
