"""Two programs in sandboxes and one outside: a rule shares one item, another keeps a program away, both are taken back.

A prompter of the test answers the dialogs.
"""

from sandboxes import *
from secrets_client import *

RULES = "/org/keychaind/Rules"
RULES1 = "org.keychaind.Rules1"
CHAT = "flatpak:org.example.Chat"
DENIED = ("refused", "org.freedesktop.DBus.Error.AccessDenied")


def check(name, held):
    print(f"{name}: {'held' if held else 'GOT IN'}", flush=True)


def change(method, signature, values):
    prompt = host.run(f"c.call({RULES!r}, {RULES1!r}, {method!r}, {signature!r}, {values!r})")[0]
    return host.run(f"c.run({prompt!r})")


def numbers():
    return [rule[0] for rule in host.run(f"c.call({RULES!r}, {RULES1!r}, 'List')")[0]]


host = Program()
bank = Sandbox("org.example.Bank")
chat = Sandbox("org.example.Chat")
shared = host.run("c.create('Shared', {**SCHEMA, 'service': 'shared'}, 'of the host')")[0]
private = host.run("c.create('Private', {**SCHEMA, 'service': 'private'}, 'of the host')")[0]
of_bank = bank.run("c.create('Account', {**SCHEMA, 'service': 'shared', 'user': 'ann'}, 'of the bank')")[0]
check("each sandbox sees its own", (bank.run("c.search({})"), chat.run("c.search({})")) == ([of_bank], []))

change("Add", "as", [f"notify {CHAT} item={shared}"])
check("a shared item is found", chat.run("c.search({'service': 'shared'})") == [shared])
check("a shared item is read", chat.run(f"c.read({shared!r})") == b"of the host")
check("others are not", chat.run(f"c.read({private!r})") == chat.run(f"c.read({LOGIN + '/999999'!r})"))
check("another sandbox has nothing of it", bank.run("c.search({})") == [of_bank])
for name, text in {
    "renamed": f"c.set({shared!r}, 'Item', 'Label', 's', 'mine')",
    "deleted": f"c.call({shared!r}, SECRET + 'Item', 'Delete')",
    "changed": f"c.call({shared!r}, SECRET + 'Item', 'SetSecret', '(oayays)', c.secret('x'))",
}.items():
    check(f"a shared item is not {name}", chat.run(text) == DENIED)
check("a sandbox has no rules to change", chat.run(f"c.call({RULES!r}, {RULES1!r}, 'List')")[0] == "refused")
change("Remove", "as", numbers())
check("taken back, it is gone", chat.run("c.search({})") == [])
check("taken back, it is not read", chat.run(f"c.read({shared!r})") == chat.run(f"c.read({LOGIN + '/999999'!r})"))

change("Add", "as", [f"never {CHAT} *"])
own = chat.run("c.create('Own', {**SCHEMA, 'service': 'own'}, 'of the chat')")[0]
check("a program is kept from an item", chat.run(f"c.read({own!r})") == DENIED)
check("no other program is", host.run(f"c.read({own!r})") == b"of the chat")
change("Remove", "as", numbers())
check("then it has the item", chat.run(f"c.read({own!r})") == b"of the chat")

change("Add", "as", ["ask-once any service=private"])
check("an item is locked until a person agrees", host.run(f"c.read({private!r})")[0] == "refused")
host.run(f"c.unlock({private!r})")
check("then it is read", host.run(f"c.read({private!r})") == b"of the host")
check("by this program alone", chat.run(f"c.read({private!r})")[0] == "refused")
for program in (host, bank, chat):
    program.close()
