#!/bin/bash
# libsecret 0.20.5: secret_service_search_sync unlocks items, and returns the labels and attributes of before.
#
# Seen with Debian 12's package 0.20.5-3: the function reads the properties of the items that it has found, then unlocks
# them, and does not read them again. A provider that shows no label or attributes of a locked item has sent
# PropertiesChanged before it answers Unlock, but the objects take that up only in the caller's main loop, later. Their
# secrets are there. secret_service_search, which is asynchronous, returns all of it; so does the synchronous one of
# 0.21.8. The provider is a few lines here.
set -euo pipefail

work=$(mktemp -d)
trap 'kill "${provider:-}" "${bus:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download --quiet --quiet libsecret-1-0=0.20.5-3 2>/dev/null)
dpkg-deb --extract "$work"/*.deb "$work/root"
dbus-daemon --session --nofork --address="unix:path=$work/bus" 2>"$work/bus.log" &
bus=$!
until [[ -S $work/bus ]]; do kill -0 "$bus"; done
export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus

/usr/bin/python3 - <<'PYTHON' &
import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

ROOT, SECRET, PROPERTIES = "/org/freedesktop/secrets", "org.freedesktop.Secret.", "org.freedesktop.DBus.Properties"
locked = True


class Exported(dbus.service.Object):
    def __init__(self, path, properties):
        super().__init__(bus, path)
        self.path, self.properties = dbus.ObjectPath(path), properties

    @dbus.service.method(PROPERTIES, "s", "a{sv}")
    def GetAll(self, interface):
        return dbus.Dictionary(self.properties(), signature="sv")

    @dbus.service.method(PROPERTIES, "ss", "v")
    def Get(self, interface, name):
        return self.properties()[name]

    @dbus.service.signal(PROPERTIES, "sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Service(Exported):
    @dbus.service.method(SECRET + "Service", "sv", "vo")
    def OpenSession(self, algorithm, input):
        if algorithm != "plain":
            raise dbus.DBusException("plain only", name="org.freedesktop.DBus.Error.NotSupported")
        return dbus.String("", variant_level=1), dbus.ObjectPath(ROOT + "/session/1")

    @dbus.service.method(SECRET + "Service", "a{ss}", "aoao")
    def SearchItems(self, attributes):
        return [[], [item.path]] if locked else [[item.path], []]

    @dbus.service.method(SECRET + "Service", "ao", "aoo")
    def Unlock(self, objects):
        global locked
        locked = False
        item.PropertiesChanged(SECRET + "Item", item.properties(), [])
        return objects, "/"

    @dbus.service.method(SECRET + "Service", "aoo", "a{o(oayays)}")
    def GetSecrets(self, paths, session):
        return {path: (session, b"", b"secret", "text/plain") for path in paths}


def properties():
    attributes = dbus.Dictionary({} if locked else {"user": "anna"}, signature="ss")
    return {"Locked": locked, "Label": "" if locked else "Mail", "Attributes": attributes}


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
item = Exported(ROOT + "/collection/login/1", properties)
collection = Exported(ROOT + "/collection/login", lambda: {"Items": [item.path], "Label": "Login", "Locked": locked})
service = Service(ROOT, lambda: {"Collections": [collection.path]})
name = dbus.service.BusName("org.freedesktop.secrets", bus)
GLib.MainLoop().run()
PYTHON
provider=$!
gdbus wait --session org.freedesktop.secrets

LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name libsecret-1.so.0)") /usr/bin/python3 - <<'PYTHON'
import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret


def show(when, item):
    print("%-19s label “%s”, %s, %s" % (when, item.get_label(), item.get_attributes(), item.get_secret().get_text()))


flags = Secret.SearchFlags.ALL | Secret.SearchFlags.UNLOCK | Secret.SearchFlags.LOAD_SECRETS
service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
found = service.search_sync(None, {"user": "anna"}, flags, None)[0]
show("at the return", found)
while not found.get_label():
    GLib.MainContext.default().iteration(True)
show("after the main loop", found)
PYTHON
