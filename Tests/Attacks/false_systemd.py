"""false_systemd.py READY ADDRESS: answers in the place of systemd, and says that every unit is being restarted.

ADDRESS may be `systemd:`, for a socket that systemd has opened.
"""

import sys

import dbus
import dbus.mainloop.glib
import dbus.server
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.systemd1"
PROPERTIES = {"MainPID": dbus.UInt32(0), "Job": (dbus.UInt32(1), dbus.ObjectPath("/job")), "JobType": "restart"}


class Systemd(dbus.service.FallbackObject):
    @dbus.service.method(MANAGER + ".Manager", in_signature="u", out_signature="o")
    def GetUnitByPID(self, process):
        PROPERTIES["MainPID"] = dbus.UInt32(process)
        return dbus.ObjectPath("/unit")

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, _, name):
        return PROPERTIES[name]


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
server = dbus.server.Server(sys.argv[2])
server.on_connection_added.append(lambda connection: Systemd(connection, "/"))
open(sys.argv[1], "w").close()
GLib.MainLoop().run()
