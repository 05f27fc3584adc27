#!/bin/bash
# SecretStorage 3.3.3 opens a Secret Service session for each Item object that reads a secret, and closes none.
#
# Seen with jeepney 0.8.0: reading the secrets of 20 items of one collection makes 20 calls of OpenSession and none of
# Session.Close, over one connection. A provider that bounds the sessions of a connection refuses the loop at its limit.
# The provider here is a few lines of dbus-next 0.2.3 that count these calls; it offers plain sessions only.
set -euo pipefail

work=$(mktemp -d)
trap 'kill "${bus:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet secretstorage==3.3.3 jeepney==0.8.0 dbus-next==0.2.3
dbus-daemon --session --nofork --address="unix:path=$work/bus" 2>"$work/bus.log" &
bus=$!
until [[ -S $work/bus ]]; do kill -0 "$bus"; done
export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus

"$work/venv/bin/python" - <<'PYTHON'
import asyncio

import secretstorage
from dbus_next import DBusError, PropertyAccess, Variant
from dbus_next.aio import MessageBus
from dbus_next.service import ServiceInterface, dbus_property, method

ROOT, COUNT = "/org/freedesktop/secrets", 20
ITEMS = [f"{ROOT}/collection/login/{number}" for number in range(COUNT)]
calls = {"OpenSession": 0, "Close": 0}
bus = None


class Session(ServiceInterface):
    def __init__(self):
        super().__init__("org.freedesktop.Secret.Session")

    @method()
    def Close(self):
        calls["Close"] += 1


class Service(ServiceInterface):
    def __init__(self):
        super().__init__("org.freedesktop.Secret.Service")

    @method()
    def OpenSession(self, algorithm: "s", input: "v") -> "vo":
        if algorithm != "plain":
            raise DBusError("org.freedesktop.DBus.Error.NotSupported", "plain only")
        calls["OpenSession"] += 1
        path = f"{ROOT}/session/s{calls['OpenSession']}"
        bus.export(path, Session())
        return [Variant("s", ""), path]


class Collection(ServiceInterface):
    def __init__(self):
        super().__init__("org.freedesktop.Secret.Collection")

    @dbus_property(access=PropertyAccess.READ)
    def Label(self) -> "s":
        return "Login"

    @dbus_property(access=PropertyAccess.READ)
    def Locked(self) -> "b":
        return False

    @dbus_property(access=PropertyAccess.READ)
    def Items(self) -> "ao":
        return ITEMS


class Item(ServiceInterface):
    def __init__(self, path):
        super().__init__("org.freedesktop.Secret.Item")
        self.path = path

    @dbus_property(access=PropertyAccess.READ)
    def Label(self) -> "s":
        return self.path

    @dbus_property(access=PropertyAccess.READ)
    def Locked(self) -> "b":
        return False

    @method()
    def GetSecret(self, session: "o") -> "(oayays)":
        return [session, b"", self.path.encode(), "text/plain"]


def read_all():
    connection = secretstorage.dbus_init()
    collection = secretstorage.Collection(connection, f"{ROOT}/collection/login")
    return [item.get_secret() for item in collection.get_all_items()]


async def main():
    global bus
    bus = await MessageBus().connect()
    bus.export(ROOT, Service())
    bus.export(f"{ROOT}/collection/login", Collection())
    for path in ITEMS:
        bus.export(path, Item(path))
    await bus.request_name("org.freedesktop.secrets")
    secrets = await asyncio.get_running_loop().run_in_executor(None, read_all)
    assert secrets == [path.encode() for path in ITEMS], secrets
    print("SecretStorage 3.3.3:", calls)
    assert calls == {"OpenSession": COUNT, "Close": 0}, calls


asyncio.run(main())
PYTHON
