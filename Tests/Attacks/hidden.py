"""hidden.py: hides an item by a rule, and looks for it in each way in which a program can come upon an item."""

from secrets_client import *

ITEM, COLLECTION, SERVICE = (SECRET + name for name in ("Item", "Collection", "Service"))
PROPERTIES = "org.freedesktop.DBus.Properties"
BANK = {**SCHEMA, "service": "bank", "user": "anna"}

owner = Client()
item = owner.create("Bank", BANK, "hunter2")[0]
other = owner.create("Mail", {**SCHEMA, "service": "mail"}, "of mail")[0]
owner.run(owner.call("/org/keychaind/Rules", "org.keychaind.Rules1", "Add", "as", ["hide any service=bank"])[0])


def attempt(name, way):
    """Holds if neither an answer nor a refusal has the path, the secret or an attribute of the item."""
    client = Client()
    try:
        told = str(way(client))
    except Refused as error:
        # With the path that the call has named.
        told = str(error).replace(item, "")
    client.close()
    found = any(text in told for text in (item + "'", name_of(item), "hunter2", "anna"))
    print(f"{name}:", f"GOT IN: {told}" if found else "held")


def name_of(path):
    """As a tree of objects has it."""
    return f'name="{path.rsplit("/", 1)[1]}"'


def changed(client):
    client.call(item, PROPERTIES, "Set", "ssv", ITEM, "Label", ("s", "anna's"))
    return "changed: anna"


print("the owner's other item is there:", Client().read(other) == b"of mail")
attempt("a search for it", lambda client: client.call(ROOT, SERVICE, "SearchItems", "a{ss}", BANK))
attempt("a search for everything", lambda client: client.call(ROOT, SERVICE, "SearchItems", "a{ss}", {}))
attempt("a search in its keychain", lambda client: client.call(LOGIN, COLLECTION, "SearchItems", "a{ss}", {}))
attempt("the list of its keychain", lambda client: client.call(LOGIN, PROPERTIES, "GetAll", "s", COLLECTION))
attempt("the tree", lambda client: client.call(LOGIN, "org.freedesktop.DBus.Introspectable", "Introspect"))
attempt("its secret", lambda client: client.call(item, ITEM, "GetSecret", "o", client.session))
attempt("its secret by the alias", lambda client: client.call(
    item.replace("collection/login", "aliases/default"), ITEM, "GetSecret", "o", client.session))
attempt("secrets of many", lambda client: client.call(ROOT, SERVICE, "GetSecrets", "aoo", [item, other], client.session)[0].get(item))
attempt("its properties", lambda client: client.call(item, PROPERTIES, "GetAll", "s", ITEM))
attempt("its unlock", lambda client: client.call(ROOT, SERVICE, "Unlock", "ao", [item]))
attempt("its lock", lambda client: client.call(ROOT, SERVICE, "Lock", "ao", [item]))
attempt("a change", changed)
attempt("a replacement", lambda client: client.create("Bank", BANK, "mine") and "replaced: anna")
attempt("its deletion", lambda client: client.call(item, ITEM, "Delete") and "deleted: anna")
owner.run(owner.call("/org/keychaind/Rules", "org.keychaind.Rules1", "Remove", "as", ["1"])[0])
print("without the rule it is there, as it was:", Client().read(item) == b"hunter2")
