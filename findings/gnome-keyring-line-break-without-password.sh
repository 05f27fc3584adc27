#!/bin/bash
# gnome-keyring 42.1 cannot read back a keyring without a password once a secret in it has a line break.
#
# A keyring whose password is empty is stored as a text file of keys and values. The daemon writes a secret into it as it
# is, so its second line is no key. At the next start the daemon says "keyring was in an invalid or unrecognized format"
# on standard error and shows no such collection: all items of the keyring are gone for programs, also those of one line.
set -euo pipefail

version=42.1-1+b2
work=$(mktemp -d)
trap 'kill "${daemon:-}" "${bus:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download --quiet gnome-keyring="$version" libgck-1-0=3.41.1-1+b1 libgcr-base-3-1=3.41.1-1+b1 >apt.log 2>&1
for package in *.deb; do dpkg --extract "$package" root; done
python3 -m venv venv
venv/bin/pip install --quiet dbus-next==0.2.3

mkdir -m 700 data run
export HOME=$work XDG_DATA_HOME=$work/data XDG_RUNTIME_DIR=$work/run DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus
dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" 2>bus.log &
bus=$!
until [[ -S bus ]]; do kill -0 "$bus"; done

cat >client.py <<'PYTHON'
import asyncio
import sys

from dbus_next import Message, Variant
from dbus_next.aio import MessageBus

SECRET, ROOT = "org.freedesktop.Secret.", "/org/freedesktop/secrets"
SECRETS = [b"first line\nsecond line", b"one line"]


async def main():
    bus = await MessageBus().connect()

    async def call(path, interface, member, signature="", *body):
        message = Message("org.freedesktop.secrets", path, interface, member, signature=signature, body=list(body))
        reply = await bus.call(message)
        assert reply.error_name is None, reply.body
        return reply.body

    async def get(path, interface, name):
        return (await call(path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name))[0].value

    name = "org.freedesktop.DBus"
    owned = Message(name, "/", name, "NameHasOwner", signature="s", body=["org.freedesktop.secrets"])
    while not (await bus.call(owned)).body[0]:
        pass
    _, session = await call(ROOT, SECRET + "Service", "OpenSession", "sv", "plain", Variant("s", ""))
    if sys.argv[1] == "write":
        [path] = await call(
            ROOT, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
            "a{sv}(oayays)", {SECRET + "Collection.Label": Variant("s", "Notes")}, [session, b"", b"", "text/plain"],
        )
        for number, secret in enumerate(SECRETS):
            properties = {SECRET + "Item.Attributes": Variant("a{ss}", {"number": str(number)})}
            secret = [session, b"", secret, "text/plain"]
            await call(path, SECRET + "Collection", "CreateItem", "a{sv}(oayays)b", properties, secret, False)
    collections = await get(ROOT, SECRET + "Service", "Collections")
    notes = ROOT + "/collection/Notes"
    items = await get(notes, SECRET + "Collection", "Items") if notes in collections else []
    secrets = [bytes((await call(item, SECRET + "Item", "GetSecret", "o", session))[0][2]) for item in items]
    print(sys.argv[1] + ":", len(items), "items", sorted(secrets))
    assert sorted(secrets) == (sorted(SECRETS) if sys.argv[1] == "write" else []), secrets


asyncio.run(main())
PYTHON

library=$(dirname "$(find root -name 'libgck-1.so.*' | head -n 1)")
# run STEP: starts the daemon, takes a step with it, and ends it.
run() {
    LD_LIBRARY_PATH=$library root/usr/bin/gnome-keyring-daemon --foreground --unlock --components=secrets \
        <<<"of the login keyring" >/dev/null 2>"$1.log" &
    daemon=$!
    timeout 60 venv/bin/python client.py "$1"
    kill "$daemon"
    wait "$daemon" || true
}
echo "gnome-keyring $version"
run write
grep -A 1 -x 'secret=first line' data/keyrings/Notes.keyring
run restart
grep -o 'keyring was in an invalid or unrecognized format' restart.log
