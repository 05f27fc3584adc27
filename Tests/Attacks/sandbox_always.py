"""A person chooses "Always for This Program" for items of a program in a sandbox."""

from sandboxes import *
from secrets_client import *

RULES = "/org/keychaind/Rules"
RULES1 = "org.keychaind.Rules1"
CONTROL = "keychain:access-control"


def check(name, held):
    print(f"{name}: {'held' if held else 'GOT IN'}", flush=True)


def create(program, name, **attributes):
    return program.run(f"c.create({name!r}, {{**SCHEMA, **{dict(attributes, service=name)!r}}}, 'secret')")[0]


def is_locked(program, item):
    return program.run(f"c.read({item!r})") == ("refused", "org.freedesktop.Secret.Error.IsLocked")


def has(program, item):
    return program.run(f"c.read({item!r})") == b"secret"


def anew(application):
    """Another start of the program, with a connection of its own."""
    return Sandbox(application)


def rules():
    return [(rule[0], rule[1], rule[2]) for rule in host.run(f"c.call({RULES!r}, {RULES1!r}, 'List')")[0]]


host = Program()
bank = Sandbox("org.example.Bank")
once = create(bank, "once", **{CONTROL: "userPresence"})
always = create(bank, "always", **{CONTROL: "userPresence"})
asked = create(bank, "asked")
sealed = create(bank, "sealed", **{CONTROL: "devicePasscode"})
check("a protected item is locked", is_locked(bank, once) and is_locked(bank, always))

bank.run(f"c.unlock({once!r})")
bank.close()
bank = anew("org.example.Bank")
check("an answer without the choice lasts for a connection", is_locked(bank, once))

bank.run(f"c.unlock({always!r})")
check("the chosen item is there", has(bank, always))
check("no other is", is_locked(bank, once))
rule = ("always", f"allow flatpak:org.example.Bank item={always}")
check("there is one rule, of a dialog", [made[1:] for made in rules()] == [rule])
bank.close()
bank = anew("org.example.Bank")
check("it is there after a restart of the program", has(bank, always))
check("a program outside has nothing of it", is_locked(host, always))
check("another sandbox does not see it", anew("org.example.Chat").run(f"c.read({always!r})")[1].endswith("NoSuchObject"))

forged = Sandbox("org.example.Bank", text=info("org.example.Bank", "1"))
check("a forged sandbox has nothing of it", not has(forged, always))
forged.close()

bank.run(f"c.unlock({sealed!r})")
check("a sealed item offers no choice", len(rules()) == 1)

prompt = host.run(f"c.call({RULES!r}, {RULES1!r}, 'Add', 'as', ['ask-always any service=asked'])")[0]
host.run(f"c.run({prompt!r})")
check("an item that a rule asks about is locked", is_locked(bank, asked))
bank.run(f"c.unlock({asked!r})")
bank.close()
bank = anew("org.example.Bank")
check("the choice in that question lasts, too", has(bank, asked))

bank.run(f"c.unlock({always!r})")
changed = bank.run(
    f"c.set({always!r}, 'Item', 'Attributes', 'a{{ss}}',"
    f" {{**SCHEMA, 'service': 'always', {CONTROL!r}: 'userPresence', 'more': '1'}})"
)
check("the attributes of the item can change", changed == () and has(bank, always))
numbers = [number for number, origin, text in rules() if text == rule[1]]
prompt = host.run(f"c.call({RULES!r}, {RULES1!r}, 'Remove', 'as', {numbers!r})")[0]
host.run(f"c.run({prompt!r})")
check("without the rule it is locked again", is_locked(anew("org.example.Bank"), always))
for program in (host, bank):
    program.close()
