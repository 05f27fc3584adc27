"""prompter.py ANSWERS LOG [COMMAND...]: a system prompter like GCR's that answers from a file, without dialogs.

Each line of ANSWERS is the answer to one question: `password TEXT`, `yes`, `agree TEXT` (one or the other, as the question
is), `no` or `silence`, with `always` before it to tick the checkbox; the last line serves for all further ones, and the
file is read anew for each question. LOG gets a line of JSON for each question. The command becomes the process that the bus
names as the prompter's.
"""

import json
import os
import socket
import sys

import gi

gi.require_version("Gcr", "3")
from gi.repository import Gcr, Gio, GLib

INTERFACE = """
<node><interface name="org.gnome.keyring.internal.Prompter">
  <method name="BeginPrompting"><arg type="o" direction="in"/></method>
  <method name="PerformPrompt">
    <arg type="o" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
    <arg type="s" direction="in"/>
  </method>
  <method name="StopPrompting"><arg type="o" direction="in"/></method>
</interface></node>"""


class Prompter:
    def __init__(self, bus, answers, log):
        self.bus, self.answers, self.log = bus, answers, log
        self.exchanges, self.count = {}, 0
        interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
        bus.register_object("/org/gnome/keyring/Prompter", interface, self.receive, None, None)

    def receive(self, _bus, sender, _path, _interface, method, parameters, invocation):
        callback, *rest = parameters.unpack()
        invocation.return_value(None)
        getattr(self, method)((sender, callback), *rest)

    def tell(self, client, method, parameters=None):
        self.bus.call(
            *client, "org.gnome.keyring.internal.Prompter.Callback", method, parameters, None,
            Gio.DBusCallFlags.NO_AUTO_START, -1, None, None,
        )

    def ready(self, client, reply, exchange, ticks=False):
        changes = {"choice-chosen": GLib.Variant("b", True)} if ticks else {}
        self.tell(client, "PromptReady", GLib.Variant("(sa{sv}s)", (reply, changes, exchange)))

    def BeginPrompting(self, client):
        self.exchanges[client] = Gcr.SecretExchange.new(None)
        self.ready(client, "", self.exchanges[client].begin())

    def PerformPrompt(self, client, kind, properties, exchange):
        with open(self.answers) as file:
            lines = file.read().splitlines()
        line = lines[min(self.count, len(lines) - 1)]
        answer, _, text = line.removeprefix("always ").partition(" ")
        ticks = line.startswith("always ") and properties.get("choice-label", "") != ""
        self.count += 1
        with open(self.log, "a") as file:
            print(json.dumps({"kind": kind, "answer": answer, **properties}, ensure_ascii=False), file=file)
        if client not in self.exchanges or answer == "silence":
            return
        mine = self.exchanges[client]
        mine.receive(exchange)
        if answer == "agree":
            answer = "password" if kind == "password" else "yes"
        if answer == "password" and kind == "password":
            self.ready(client, "yes", mine.send(text, -1), ticks)
        else:
            self.ready(client, "yes" if answer == "yes" else "no", mine.send(None, 0), ticks)

    def StopPrompting(self, client):
        if self.exchanges.pop(client, None):
            self.tell(client, "PromptDone")


answers, log, *command = sys.argv[1:]
if command:
    # The bus knows who has connected, not who speaks.
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"].removeprefix("unix:path=").split(",")[0]
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    if os.fork():
        os.execvp(command[0], command)
    stream = Gio.Socket.new_from_fd(connection.detach()).connection_factory_create_connection()
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    bus = Gio.DBusConnection.new_sync(stream, None, flags, None, None)
else:
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
prompter = Prompter(bus, answers, log)
Gio.bus_own_name_on_connection(bus, "org.gnome.keyring.SystemPrompter", Gio.BusNameOwnerFlags.REPLACE, None, None)
GLib.MainLoop().run()
