"""false_systemd.py READY: takes systemd's name on the session bus, and says that every unit is being restarted."""

import sys

import dbus
import dbus.mainloop.glib
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
bus = dbus.SessionBus()
systemd = Systemd(bus, "/")
print(bus.request_name(MANAGER, dbus.bus.NAME_FLAG_REPLACE_EXISTING), file=open(sys.argv[1], "w"), flush=True)
GLib.MainLoop().run()
