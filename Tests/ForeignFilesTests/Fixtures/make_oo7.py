"""make_oo7.py PACKAGE FILE: has oo7's client write a keyring with the password `password`.

PACKAGE is the folder of oo7-python, as `pip install --target` fills it. A program in a sandbox keeps its items in a file
of its own, with the secret of the desktop portal as the password. This script is the portal, and makes the sandbox:

    dbus-run-session python3 make_oo7.py PACKAGE oo7-0.6.0.keyring
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile

ITEMS = [
    ("Mail", {"service": "mail", "user": "anna"}, "pä ss"),
    ("Lä bel ", {"n": "1", "ö": "x y", "empty": ""}, "line\nbreak\n"),
    ("", {"n": "2", "xdg:schema": "org.example.Note"}, bytes(range(256))),
    ("no secret", {"n": "3"}, ""),
    ("long", {"n": "4"}, "x" * 300),
    ("type", {"n": "5", "xdg:content-type": "text/html"}, "<p>"),
    ("twin", {"n": "6"}, "first"),
    ("twin", {"n": "6"}, "second"),
    ("no attributes", {}, "bare"),
    ("Secret Portal token for org.example.Mail", {"app_id": "org.example.Mail"}, bytes(range(64))),
]


async def store():
    import oo7

    keyring = await oo7.Keyring.new()
    for label, attributes, secret in ITEMS:
        await keyring.create_item(label, attributes, secret, False)
    await keyring.create_item("replaced", {"n": "1", "ö": "x y", "empty": ""}, b"new", True)


def serve(command, environment):
    import dbus
    import dbus.mainloop.glib
    import dbus.service
    from gi.repository import GLib

    class Request(dbus.service.Object):
        @dbus.service.signal("org.freedesktop.portal.Request", "ua{sv}")
        def Response(self, response, results):
            pass

    class Portal(dbus.service.Object):
        @dbus.service.method(
            "org.freedesktop.portal.Secret", "ha{sv}", "o", sender_keyword="sender", connection_keyword="bus"
        )
        def RetrieveSecret(self, descriptor, options, sender, bus):
            path = "/org/freedesktop/portal/desktop/request/%s/%s" % (
                sender[1:].replace(".", "_"),
                options["handle_token"],
            )
            with os.fdopen(descriptor.take(), "wb") as stream:
                stream.write(b"password")
            request = Request(bus, path)
            GLib.idle_add(request.Response, dbus.UInt32(0), dbus.Dictionary({}, signature="sv"))
            return dbus.ObjectPath(path)

        @dbus.service.method("org.freedesktop.DBus.Properties", "ss", "v")
        def Get(self, interface, name):
            return dbus.UInt32(1)

        @dbus.service.method("org.freedesktop.DBus.Properties", "s", "a{sv}")
        def GetAll(self, interface):
            return {"version": dbus.UInt32(1)}

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    Portal(bus, "/org/freedesktop/portal/desktop")
    name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
    client = subprocess.Popen(command, env=environment)
    loop = GLib.MainLoop()
    GLib.child_watch_add(GLib.PRIORITY_DEFAULT, client.pid, lambda pid, status: (statuses.append(status), loop.quit()))
    statuses = []
    loop.run()
    del name
    return os.waitstatus_to_exitcode(statuses[0])


def main():
    if sys.argv[1:] == ["store"]:
        asyncio.run(store())
        return
    package, file = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        info = folder + "/flatpak-info"
        with open(info, "w") as stream:
            stream.write("[Application]\nname=org.example.Mail\n")
        command = "bwrap --unshare-user --die-with-parent --symlink usr/lib /lib --symlink usr/lib64 /lib64".split()
        for path in "/usr", "/etc", "/run", "/tmp", package:
            command += ["--ro-bind", path, path]
        script = os.path.abspath(__file__)
        command += ["--proc", "/proc", "--dev", "/dev", "--bind", folder, folder, "--ro-bind", info, "/.flatpak-info"]
        command += ["--ro-bind", script, script, sys.executable, script, "store"]
        environment = {**os.environ, "XDG_DATA_HOME": folder, "PYTHONPATH": package}
        status = serve(command, environment)
        if status != 0:
            sys.exit(status)
        shutil.copyfile(folder + "/keyrings/default.keyring", file)


if __name__ == "__main__":
    main()
