"""Sandboxes that were there before they were limited, sharing by groups, and the person who confirms one."""

from sandboxes import *
from secrets_client import *

SANDBOXES = ROOT + "/sandboxes"
INTERFACE = "org.keychaind.Sandboxes1"
MAIL, NEW = "flatpak:org.example.Mail", "flatpak:org.example.New"
SERVICE = {"service": "mail"}


def check(name, held):
    print(f"{name}: {held}", flush=True)


def states():
    return {row[0]: row[1] for row in host.call(SANDBOXES, INTERFACE, "List")[0]}


def confirm(identity, *items):
    return host.run(host.call(SANDBOXES, INTERFACE, "Confirm", "sao", identity, list(items))[0])


host = Client()
mail, new = sandboxed_clients("org.example.Mail", "org.example.New")
old = host.create("of before", SERVICE, "old")[0]
other = host.create("of another program", {"service": "other"}, "other")[0]

check("one of before sees what it saw", set(mail.run("c.search({})")) == {old, other})
check("a new one sees nothing", new.run("c.search({})") == [])
check("the states", states() == {MAIL: "unconfirmed", NEW: "limited"})
stored = mail.run("c.create('stored', {'service': 'stored'}, 'new')")[0]
check("what it stores is stamped", host.call(SANDBOXES, INTERFACE, "Items", "s", MAIL) == ([stored],))
kept = mail.run("c.create('again', {'service': 'other'}, 'changed')")[0]
check("it replaces as before", kept == other and host.call(SANDBOXES, INTERFACE, "Items", "s", MAIL) == ([stored],))
for wrong in "org.example.Mail", "program:/usr/bin/git", "flatpak:", "flatpak:a b", "flatpak:\x1b":
    refused = attempt(host.call, SANDBOXES, INTERFACE, "Items", "s", wrong)
    check(f"no identity {wrong!r}", refused.args[0] == "org.freedesktop.DBus.Error.InvalidArgs")
of_new = new.run("c.create('of new', {'service': 'x'}, 'x')")[0]
refused = attempt(host.call, SANDBOXES, INTERFACE, "Confirm", "sao", MAIL, [of_new])
check("an item of another sandbox", refused.args[0] == "org.freedesktop.DBus.Error.AccessDenied")

with open(sys.argv[1], "w") as answers:
    answers.write("no\nyes\n")
check("a refusal", confirm(MAIL, old) == (True, ("b", False)) and states()[MAIL] == "unconfirmed")
check("it still sees what it saw", set(mail.run("c.search({})")) == {old, other, stored, of_new})
times = host.get(old, "Item", "Modified")
check("a confirmation", confirm(MAIL, old) == (False, ("b", True)) and states()[MAIL] == "limited")
check("it sees its own", set(mail.run("c.search({})")) == {old, stored})
check("it reads what it was given", mail.run(f"c.read({old!r})") == b"old")
check("it reads nothing else", mail.run(f"c.read({other!r})")[0] == "refused")
check("the times stay", host.get(old, "Item", "Modified") == times)
check("another connection of it", set(Sandbox("org.example.Mail").run("c.search({})")) == {old, stored})

# Groups: Suite1 and Suite2 are in one by a file of root; Outsider says so itself, in a file of the user.
one, two, outsider = sandboxed_clients("org.example.Suite1", "org.example.Suite2", "org.example.Outsider")
GROUP = {"keychain:access-group": "org.example.suite", "service": "suite"}
shared = one.run(f"c.create('shared', {GROUP!r}, 'shared')")[0]
own = one.run("c.create('own', {'service': 'own'}, 'own')")[0]
check("a group that is one's", shared.startswith(LOGIN))
check("a member sees what is in the group", two.run("c.search({})") == [shared])
check("a member searches it by attributes", two.run("c.search({'service': 'suite'})") == [shared])
check("a member reads it", two.run(f"c.read({shared!r})") == b"shared")
check("a member changes it", two.run(f"c.set({shared!r}, 'Item', 'Label', 's', 'ours')") == ())
check("nobody else sees it", outsider.run("c.search({})") == [])
refused = outsider.run(f"c.create('x', {GROUP!r}, 'x')")
check("nobody else stores in it", refused == ("refused", "org.keychaind.Error.MissingEntitlement"))
STATUS = "unwrap_msg(c.connection.send_and_get_reply(Properties(DBusAddress(ROOT, BUS_NAME, 'org.keychaind.Status1')).get('%s')))[0][1]"
check("the groups of a member", two.run(STATUS % "AccessGroups") == ["flatpak:org.example.Suite2", "org.example.suite"])
check("the identity", outsider.run(STATUS % "Identity") == "flatpak:org.example.Outsider")
check("no settings for it", outsider.run(STATUS % "Settings") == [])
