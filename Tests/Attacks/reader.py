"""reader.py SOCKET enrol USER | touch SECONDS [FINGER]: the user at libfprint's virtual reader, through fprintd."""

import socket
import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

DEVICE = "net.reactivated.Fprint.Device"


def send(command):
    """Sends the reader a command; it listens while a client has claimed it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.send(command.encode())
        return connection.recv(1024)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
manager = dbus.Interface(
    bus.get_object("net.reactivated.Fprint", "/net/reactivated/Fprint/Manager"), "net.reactivated.Fprint.Manager"
)
device = dbus.Interface(bus.get_object("net.reactivated.Fprint", manager.GetDefaultDevice()), DEVICE)

if sys.argv[2] == "enrol":
    loop = GLib.MainLoop()

    def enrolled(status, is_done):
        if is_done:
            assert status == "enroll-completed", status
            loop.quit()
        else:
            send("SCAN owner")

    device.connect_to_signal("EnrollStatus", enrolled)
    device.Claim(sys.argv[3])
    send("SET_ENROLL_STAGES 1")
    device.EnrollStart("right-index-finger")
    send("SCAN owner")
    loop.run()
    device.EnrollStop()
    device.Release()
elif sys.argv[2] == "touch":
    # A reader without a pending scan ignores a touch.
    loop = GLib.MainLoop()
    properties = dbus.Interface(device.proxy_object, "org.freedesktop.DBus.Properties")

    def changed(_interface, values, _invalidated):
        if values.get("finger-needed"):
            loop.quit()

    properties.connect_to_signal("PropertiesChanged", changed)
    if not properties.Get(DEVICE, "finger-needed"):
        GLib.timeout_add(int(float(sys.argv[3]) * 1000), sys.exit, "the reader is not armed")
        loop.run()
    send(f"SCAN {sys.argv[4] if len(sys.argv) > 4 else 'owner'}")
