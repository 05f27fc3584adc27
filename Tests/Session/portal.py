"""portal.py: prints the secret that the Secret portal returns, in hexadecimal, or the response code if it is not 0."""

import os
import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
loop = GLib.MainLoop()
portal = bus.get_object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
reader, writer = os.pipe()
answer = []


def receive(response, results, path=None):
    answer.append(response)
    loop.quit()


bus.add_signal_receiver(receive, "Response", "org.freedesktop.portal.Request", path_keyword="path")
portal.RetrieveSecret(
    dbus.types.UnixFd(writer), {"handle_token": "t%d" % os.getpid()}, dbus_interface="org.freedesktop.portal.Secret"
)
os.close(writer)
GLib.timeout_add_seconds(60, loop.quit)
loop.run()
if answer != [0]:
    sys.exit("response %s" % [int(number) for number in answer])
print(os.read(reader, 4096).hex())
