"""Two programs in sandboxes, one outside, and what one of them tries to get at the others' items."""

from sandboxes import *
from secrets_client import *

BANK = {**SCHEMA, "service": "bank", "user": "ann"}
SECRET_OF_BANK = b"the bank's secret, stored from a sandbox"
SECRET_OF_HOST = b"the host's secret, stored outside of all"
ATTRIBUTES = repr(BANK)


def check(name, held):
    print(f"{name}: {'held' if held else 'GOT IN'}", flush=True)


host = Program()
bank = Sandbox("org.example.Bank")
chat = Sandbox("org.example.Chat")

of_host = host.run(f"c.create('Account', {ATTRIBUTES}, {SECRET_OF_HOST!r})")[0]
of_bank = bank.run(f"c.create('Account of the bank', {ATTRIBUTES}, {SECRET_OF_BANK!r})")[0]
check("a sandbox replaces no foreign item", of_bank != of_host)
check("the host's item is as it was", host.run(f"c.read({of_host!r})") == SECRET_OF_HOST)
check("a sandbox finds its own", bank.run("c.search({})") == [of_bank])
check("a sandbox reads its own", bank.run(f"c.read({of_bank!r})") == SECRET_OF_BANK)
check("the host finds both", set(host.run(f"c.search({ATTRIBUTES})")) == {of_host, of_bank})

NOBODYS = LOGIN + "/999999"
absent = chat.run(f"c.read({NOBODYS!r})")
for name, item in ("the bank's", of_bank), ("the host's", of_host):
    check(f"GetSecret of {name}", chat.run(f"c.read({item!r})") == absent)
    alias = item.replace(LOGIN, ROOT + "/aliases/default")
    check(f"GetSecret of {name} by an alias", host.run(f"c.read({alias!r})") == host.run(f"c.read({item!r})")
          and chat.run(f"c.read({alias!r})") == absent)
    for method, signature, arguments in (
        ("Delete", None, ()),
        ("SetSecret", "(oayays)", ("c.secret('x')",)),
    ):
        text = f"c.call({item!r}, SECRET + 'Item', {method!r}, {signature!r}, {', '.join(arguments)})"
        check(f"{method} of {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))
    text = f"c.set({item!r}, 'Item', 'Label', 's', 'mine')"
    check(f"the label of {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))
    text = f"c.call({item!r}, 'org.freedesktop.DBus.Introspectable', 'Introspect')"
    check(f"Introspect of {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))
    text = f"c.call({item!r}, 'org.freedesktop.DBus.Properties', 'GetAll', 's', '')"
    check(f"GetAll of {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))
    text = f"c.call({item!r}, 'org.keychaind.Key1', 'Sign', 'say', 'x', b'')"
    check(f"Sign with {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))

    text = f"c.call(LOGIN, 'org.keychaind.Collection1', 'DeleteItems', 'ao', [{item!r}])"
    check(f"DeleteItems of {name}", chat.run(text) == chat.run(text.replace(item, NOBODYS)))

BOTH = repr([of_bank, of_host])
check("GetSecrets", chat.run(f"c.call(ROOT, SECRET + 'Service', 'GetSecrets', 'aoo', {BOTH}, c.session)") == ({},))
check("Search1.Get", chat.run(f"c.call(ROOT, 'org.keychaind.Search1', 'Get', 'aoo', {BOTH}, c.session)") == ([], {}))
search = "c.call(ROOT, 'org.keychaind.Search1', 'Search', 'aa{ss}ou', [%s], c.session, 0)"
for name, query in {
    "for the attributes": ATTRIBUTES,
    "for all": "{}",
    "for a stamp": "{'keychain:program': 'flatpak:org.example.Bank'}",
}.items():
    check(f"SearchItems {name}", chat.run(f"c.search({query})") == [])
    check(f"SearchItems of the keychain {name}",
          chat.run(f"c.call(LOGIN, SECRET + 'Collection', 'SearchItems', 'a{{ss}}', {query})") == ([],))
    check(f"Search1.Search {name}", chat.run(search % query) == ([], {}))
check("the list of items", chat.run("c.get(LOGIN, 'Collection', 'Items')") == [])
check("the aliases' list", chat.run("c.get(ROOT + '/aliases/default', 'Collection', 'Items')") == [])
introspection = chat.run("c.call(LOGIN, 'org.freedesktop.DBus.Introspectable', 'Introspect')")[0]
check("introspection of the keychain", "<node name=" not in introspection)
check("Unlock", chat.run(f"c.call(ROOT, SECRET + 'Service', 'Unlock', 'ao', {BOTH})") == ([], "/"))
check("Lock", chat.run(f"c.call(ROOT, SECRET + 'Service', 'Lock', 'ao', {[of_bank, LOGIN]!r})") == ([], "/"))
check("nothing is locked by it", not host.run("c.get(LOGIN, 'Collection', 'Locked')"))

DENIED = ("refused", "org.freedesktop.DBus.Error.AccessDenied")
for path, interface, method, signature, arguments in (
    ("LOGIN", "SECRET + 'Collection'", "Delete", None, ""),
    ("LOGIN", "'org.keychaind.KeySlots1'", "List", None, ""),
    ("LOGIN", "'org.keychaind.KeySlots1'", "AddPassword", "s", "''"),
    ("LOGIN", "'org.keychaind.KeySlots1'", "MakeRecoveryKey", "os", "c.session, ''"),
    ("ROOT", "SECRET + 'Service'", "SetAlias", "so", "'x', LOGIN"),
    ("ROOT", "SECRET + 'Service'", "CreateCollection", "a{sv}s", "{}, ''"),
    ("ROOT", "MASTER_PASSWORDS", "ChangeWithPrompt", "o", "LOGIN"),
    ("ROOT", "None", "ChangeWithPrompt", "o", "LOGIN"),
):
    text = f"c.call({path}, {interface}, {method!r}, {signature!r}, {arguments})"
    check(f"{method} of {interface}", chat.run(text) == DENIED)
check("the keychain's name", chat.run("c.set(LOGIN, 'Collection', 'Label', 's', 'mine')") == DENIED)
for path, interface, method, signature, arguments in (
    ("/org/keychaind/Audit", "org.keychaind.Audit1", "Read", "tu", "0, 0"),
    ("/org/keychaind/Backups", "org.keychaind.Backups1", "List", None, ""),
    ("/org/keychaind/Portal", "org.keychaind.Portal1", "Import", "s(oayays)", "'x', c.secret('x')"),
    (ROOT + "/sandboxes", "org.keychaind.Sandboxes1", "List", None, ""),
    (ROOT + "/sandboxes", "org.keychaind.Sandboxes1", "Confirm", "sao", "'flatpak:org.example.Chat', []"),
):
    text = f"c.call({path!r}, {interface!r}, {method!r}, {signature!r}, {arguments})"
    check(f"{method} at {path}", chat.run(text) == ("refused", "org.freedesktop.DBus.Error.UnknownObject"))

# Several at once.
own = [bank.run(f"c.create('own', {{'own': '{number}'}}, 'x')")[0] for number in range(2)]
delete = "c.call(LOGIN, 'org.keychaind.Collection1', 'DeleteItems', 'ao', %r)"
check("DeleteItems of its own and another's", bank.run(delete % ([*own, of_host],))[0] == "refused")
check("and nothing is deleted", set(bank.run("c.search({})")) == {of_bank, *own})
bank.run(delete % (own,))
check("DeleteItems of its own", bank.run("c.search({})") == [of_bank])

# The stamp.
STOLEN = {**BANK, "keychain:program": "flatpak:org.example.Bank"}
stolen = chat.run(f"c.create('bait', {STOLEN!r}, 'bait')")[0]
check("a chosen stamp", chat.run("c.search({})") == [stolen] and bank.run("c.search({})") == [of_bank])
chat.run(f"c.set({stolen!r}, 'Item', 'Attributes', 'a{{ss}}', {STOLEN!r})")
check("a stamp set later", chat.run("c.search({})") == [stolen] and bank.run("c.search({})") == [of_bank])
host.run(f"c.set({of_bank!r}, 'Item', 'Attributes', 'a{{ss}}', {BANK!r})")
check("a program outside keeps the stamp", bank.run("c.search({})") == [of_bank])
host.run(f"c.set({of_host!r}, 'Item', 'Attributes', 'a{{ss}}', {STOLEN!r})")
check("a program outside sets no stamp", bank.run("c.search({})") == [of_bank])
unique = (
    "c.call(LOGIN, 'org.keychaind.Collection1', 'CreateItem', 'a{sv}(oayays)bas', "
    f"{{SECRET + 'Item.Attributes': ('a{{ss}}', {{'unique': 'ann'}})}}, c.secret('x'), False, ['unique'])"
)
host.run(unique)
check("a unique key of others", chat.run(unique)[0] not in ("/", "refused"))

# Groups of others.
grouped = {**BANK, "keychain:access-group": "flatpak:org.example.Bank"}
check("a group of others", chat.run(f"c.create('x', {grouped!r}, 'x')") == (
    "refused", "org.keychaind.Error.MissingEntitlement"))
own = {"keychain:access-group": "flatpak:org.example.Chat"}
check("the own group", chat.run(f"c.create('x', {own!r}, 'x')")[1] == "/")

# Signals: of the bank's and the host's items, while the sandbox listens to everything.
chat.run("c.connection.send(new_method_call(DBusAddress('/org/freedesktop/DBus', 'org.freedesktop.DBus', "
         "'org.freedesktop.DBus'), 'AddMatch', 's', ('type=\\'signal\\',sender=\\'org.freedesktop.secrets\\'',)))")
chat.run("c.search({})")
host.run("c.create('told', {'told': 'x'}, 'x')")
new = bank.run("c.create('told', {'told': 'y'}, 'x')")[0]
bank.run(f"c.set({new!r}, 'Item', 'Label', 's', 'told again')")
bank.run(f"c.call({new!r}, SECRET + 'Item', 'Delete')")
# The answer to a later call comes after the signals.
chat.run("c.connection.send(c.message(ROOT, 'org.freedesktop.DBus.Peer', 'Ping'))")
chat.run("c.get(ROOT, 'Service', 'Collections')")
check("signals of others", not any("secrets.Item" in text or "Item" in text for text in chat.run("heard(c)")))

chat.start("hear_while_connecting(100)")
for number in range(100):
    host.run(f"c.create('told', {{'told': '{number}'}}, 'x')")
check("signals for new connections", chat.answer() == [])

# Programs that are not what they say.
for name, program in {
    "a file without a record": lambda: Sandbox("org.example.Bank", recorded=False),
    "the record of another": lambda: Sandbox("org.example.Bank", recorded=info("org.example.Chat", "1")),
    "a file that it can change": lambda: Sandbox("org.example.Bank", writable=True),
    "a path as the instance": lambda: Sandbox("x", text=info("org.example.Bank", "../.flatpak/" + bank.instance)),
    "no application": lambda: Sandbox("x", text="[Instance]\ninstance-id=1000\n"),
    "a name with control characters": lambda: Sandbox("org.example.Bank\x1b[2J"),
    "a very long file": lambda: Sandbox("org.example.Bank", text=info("org.example.Bank", "1") + "x" * 60000),
}.items():
    forged = program()
    check(f"{name} searches", forged.run("c.search({})") == [])
    check(f"{name} reads", forged.run(f"c.read({of_bank!r})")[0] == "refused")
    check(f"{name} stores", forged.run(f"c.create('x', {ATTRIBUTES}, 'x')")[0] == "refused")
    forged.close()

# A sandbox inside of the sandbox, with the file of the bank.
for name, command in {
    "a sandbox inside, with the bank's file": nested(info("org.example.Bank", bank.instance)),
    "a sandbox inside, with the bank's name": nested(info("org.example.Bank", "1")),
    "a sandbox inside without a file": [*NESTED, "--"],
    "a sandbox inside of that": [*NESTED, "--", *NESTED, "--"],
}.items():
    inner = Sandbox("org.example.Chat", extra=command)
    check(f"{name} searches", of_bank not in inner.run("c.search({})"))
    check(f"{name} reads", inner.run(f"c.read({of_bank!r})")[0] == "refused")
    inner.close()

# A child of the sandbox whose parents have ended, which only has the first process of its namespace above it.
ORPHANED = ["/bin/sh", "-c", '(setsid "$@" <&3 &) 3<&0; exec sleep 1000', "sh"]
child = Sandbox("org.example.Chat", extra=ORPHANED)
check("an orphan in the sandbox", of_bank not in child.run("c.search({})"))
child.process.terminate()

# Its connection, used by another process once the first has ended.
heir = Sandbox("org.example.Chat", extra=ORPHANED)
heir.run("c.search({})")
heir.run("os.fork() and os._exit(0)")
check("a child with the connection", of_bank not in heir.run("c.search({})"))
heir.process.terminate()

# So much that no copy of the keychain could be read back.
FULL = ("refused", "org.freedesktop.DBus.Error.LimitsExceeded")
STORE = "c.create('large', {'large': '%s'}, b'x' * (%d << 20))"
SET = "c.call(%r, SECRET + 'Item', 'SetSecret', '(oayays)', c.secret(b'x' * (%d << 20)))"
hoard = Sandbox("org.example.Hoard")
large = [hoard.run(STORE % (number, 15))[0] for number in range(4)]
check("a hoarder stores up to 64 MiB", all(item.startswith(LOGIN) for item in large))
check("a hoarder stores more", hoard.run(STORE % ("more", 5)) == FULL)
check("a hoarder makes an item larger", hoard.run(SET % (large[0], 16)) == () and hoard.run(SET % (large[1], 16)) == ()
      and hoard.run(SET % (large[2], 16)) == () and hoard.run(SET % (large[3], 16)) == FULL)
check("nothing of that is stored", len(hoard.run(f"c.read({large[3]!r})")) == 15 << 20
      and len(hoard.run("c.search({})")) == 4)
check("a hoarder makes an item smaller", hoard.run(SET % (large[0], 1)) == ())
check("a hoarder then stores as much again", hoard.run(STORE % ("again", 15))[1] == "/")
check("a hoarder deletes", hoard.run(f"c.call({large[1]!r}, SECRET + 'Item', 'Delete')") == ("/",))
of_host = [host.run(STORE % (number, 15))[0] for number in range(5)]
check("a program outside stores more", all(item.startswith(LOGIN) for item in of_host))
check("another sandbox can still store", bank.run("c.create('x', {'n': 'x'}, 'x')")[1] == "/")
hoard.close()
hoard = Sandbox("org.example.Hoard.Small")
check("a hoarder stores 10,000 items", hoard.run("store_many(c, 10_000)") == {"stored": 10_000})
check("a hoarder stores more items", hoard.run("store_many(c, 2)") == {FULL[1]: 2})
hoard.close()

check("the bank still has all", bank.run(f"c.read({of_bank!r})") == SECRET_OF_BANK)
for program in host, bank, chat:
    program.close()
