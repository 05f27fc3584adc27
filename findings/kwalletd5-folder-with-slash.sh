#!/bin/bash
# kwalletd5 5.103.0 gives an empty secret for entries of a folder whose name has a slash, over its Secret Service.
#
# KWallet's own interface takes such a folder and gives the password back. The same process's org.freedesktop.secrets
# shows the item with the right label, FOLDER/ENTRY, and GetSecret of it succeeds with no bytes. An entry of a folder
# without a slash is whole. Whoever copies a wallet through the Secret Service copies the empty secret.
set -euo pipefail

version=5.103.0-1
work=$(mktemp -d)
trap 'kill "${bus:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
mkdir -p lists archives/partial
touch status
apt-get install --quiet --download-only --yes --no-install-recommends -o Dir::State::status="$work/status" \
    -o Dir::Cache::archives="$work/archives" libkf5wallet-bin="$version" libqca-qt5-2-plugins >apt.log 2>&1
for package in archives/*.deb; do dpkg --extract "$package" root; done
python3 -m venv venv
venv/bin/pip install --quiet dbus-next==0.2.3

mkdir -m 700 home data run config
printf '[Wallet]\nFirst Use=false\n' >config/kwalletrc
export HOME=$work/home XDG_DATA_HOME=$work/data XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config
export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus QT_QPA_PLATFORM=offscreen
libraries=$work/$(dirname "$(find root -name 'libQt5Core.so.*' | head -n 1)")
dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" 2>bus.log &
bus=$!
until [[ -S bus ]]; do kill -0 "$bus"; done

echo "kwalletd5 $version"
LIBRARIES=$libraries venv/bin/python - "$work/root/usr/bin/kwalletd5" <<'PYTHON'
import asyncio
import hashlib
import os
import socket
import subprocess
import sys

from dbus_next import Message, Variant
from dbus_next.aio import MessageBus

SECRET, ROOT = "org.freedesktop.Secret.", "/org/freedesktop/secrets"
FOLDERS = {"plain": "password one", "with/slash": "password two"}
# As pam_kwallet makes them from a password.
SALT = bytes(range(56))
KEY = hashlib.pbkdf2_hmac("sha512", b"password", SALT, 50000, 56)
FOLDER = os.environ["XDG_DATA_HOME"] + "/kwalletd"


def start():
    """Starts it as a login does: with the key of the wallet in a pipe, and the environment through a socket."""
    read, write = os.pipe()
    os.write(write, KEY)
    os.close(write)
    path = os.environ["XDG_RUNTIME_DIR"] + "/login"
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    environment = dict(os.environ, PAM_KWALLET5_LOGIN=path, LD_LIBRARY_PATH=os.environ["LIBRARIES"])
    environment["QT_PLUGIN_PATH"] = os.environ["LIBRARIES"] + "/qt5/plugins"
    child = subprocess.Popen(
        [sys.argv[1], "--pam-login", str(read), str(listener.fileno())],
        pass_fds=(read, listener.fileno()), env=environment, stderr=subprocess.DEVNULL,
    )
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.close()
    return child


async def main():
    os.makedirs(FOLDER)
    with open(FOLDER + "/kdewallet.salt", "wb") as file:
        file.write(SALT)
    bus = await MessageBus().connect()

    async def call(name, path, interface, member, signature="", *body):
        reply = await bus.call(Message(name, path, interface, member, signature=signature, body=list(body)))
        assert reply.error_name is None, (member, reply.error_name, reply.body)
        return reply.body

    async def wait_for(name):
        owned = "org.freedesktop.DBus"
        while not (await call(owned, "/", owned, "NameHasOwner", "s", name))[0]:
            await asyncio.sleep(0.05)

    async def wallet(member, signature="", *body):
        return await call("org.kde.kwalletd5", "/modules/kwalletd5", "org.kde.KWallet", member, signature, *body)

    async def secrets(path, interface, member, signature="", *body):
        return await call("org.freedesktop.secrets", path, SECRET + interface, member, signature, *body)

    async def get(path, interface, name):
        interface = SECRET + interface
        properties = "org.freedesktop.DBus.Properties"
        return (await call("org.freedesktop.secrets", path, properties, "Get", "ss", interface, name))[0].value

    child = start()
    await wait_for("org.kde.kwalletd5")
    file = FOLDER + "/kdewallet.kwl"
    while not os.path.exists(file) or not os.path.getsize(file):
        await wallet("wallets")
    [handle] = await wallet("open", "sxs", "kdewallet", 0, "finding")
    for folder, password in FOLDERS.items():
        await wallet("createFolder", "iss", handle, folder, "finding")
        await wallet("writePassword", "issss", handle, folder, "entry", password, "finding")
        assert (await wallet("readPassword", "isss", handle, folder, "entry", "finding"))[0] == password
    await wallet("closeAllWallets")
    child.terminate()
    child.wait()

    child = start()
    await wait_for("org.freedesktop.secrets")
    [path] = await secrets(ROOT, "Service", "ReadAlias", "s", "default")
    _, session = await secrets(ROOT, "Service", "OpenSession", "sv", "plain", Variant("s", ""))
    _, prompt = await secrets(ROOT, "Service", "Unlock", "ao", [path])
    if prompt != "/":
        await secrets(prompt, "Prompt", "Prompt", "s", "")
    while await get(path, "Collection", "Locked"):
        await asyncio.sleep(0.05)
    found = {}
    for item in await get(path, "Collection", "Items"):
        label = await get(item, "Item", "Label")
        found[label] = bytes((await secrets(item, "Item", "GetSecret", "o", session))[0][2])
    child.terminate()
    child.wait()
    print(found)
    assert found == {"plain/entry": b"password one", "with/slash/entry": b""}, found


asyncio.run(main())
PYTHON
