#!/usr/bin/python3
"""Measures the delays of a login session: login, locking before sleep, and the secrets of sandboxed programs.

Usage: session.py KEYCHAIND

Uses a private bus with a mock of logind (python-dbusmock). Login: from sending the password to a locked keychain
(docs/pam.md) to the reply. Secret: a request of the desktop portal, in turn with Ping. Locking: from logind's signal
until the last of four collections, with 10,000 items in all, is locked. Requires dbus-daemon, python3-dbus,
python3-dbusmock and python3-gi.
"""

import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import dbus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

SECRETS, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
SERVICE, COLLECTION, ITEM = (f"org.freedesktop.Secret.{name}" for name in ("Service", "Collection", "Item"))
MASTER_PASSWORDS = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
LOGIND, MOCK = "org.freedesktop.login1", "org.freedesktop.DBus.Mock"
COLLECTIONS, ITEMS, ROUNDS = 4, 2500, 21


class Machine:
    """A session and system bus in one, a mock of logind, and keychaind."""

    def __init__(self, keychaind, folder):
        self.processes = []
        arguments = ["dbus-daemon", "--session", "--nofork", "--print-address"]
        bus = self.start(arguments, os.environ, stdout=subprocess.PIPE)
        address = bus.stdout.readline().decode().strip()
        self.environment = {
            **os.environ,
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "XDG_DATA_HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            "DBUS_SESSION_BUS_ADDRESS": address,
            "DBUS_SYSTEM_BUS_ADDRESS": address,
        }
        self.bus = dbus.bus.BusConnection(address)
        arguments = [sys.executable, "-m", "dbusmock", "--system", "--template", "logind"]
        self.start(arguments, self.environment, stdout=subprocess.DEVNULL)
        self.wait_for(LOGIND)
        logind = self.bus.get_object(LOGIND, "/org/freedesktop/login1")
        logind.AddSession("c1", "seat0", dbus.UInt32(os.getuid()), "user", True, dbus_interface=MOCK)
        answer = "ret = '/org/freedesktop/login1/session/c1'"
        logind.AddMethod(LOGIND + ".Manager", "GetSessionByPID", "u", "o", answer, dbus_interface=MOCK)
        self.logind = logind
        os.makedirs(folder + "/keychaind")
        with open(folder + "/keychaind/config.toml", "w", encoding="utf-8") as file:
            file.write("[lock]\non-sleep = true\n")
        daemon = self.start([keychaind, "--unlock"], self.environment, stdin=subprocess.PIPE)
        daemon.stdin.write(b"password")
        daemon.stdin.close()
        self.wait_for(SECRETS)

    def start(self, arguments, environment, **streams):
        process = subprocess.Popen(arguments, env=environment, **streams)
        self.processes.append(process)
        return process

    def wait_for(self, name):
        while not self.bus.name_has_owner(name):
            time.sleep(0.01)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def make_collections(bus):
    service = bus.get_object(SECRETS, ROOT)
    _, session = service.OpenSession("plain", "", dbus_interface=SERVICE)
    password = (session, dbus.ByteArray(b""), dbus.ByteArray(b"password"), "text/plain")
    paths = [
        service.CreateWithMasterPassword({COLLECTION + ".Label": label}, password, dbus_interface=MASTER_PASSWORDS)
        for label in (f"Ring {number}" for number in range(COLLECTIONS))
    ]
    for path in paths:
        add_items(bus, path, session)
    return paths


def add_items(bus, path, session):
    waiting = []
    for number in range(ITEMS):
        call = dbus.lowlevel.MethodCallMessage(SECRETS, path, COLLECTION, "CreateItem")
        properties = {
            ITEM + ".Label": f"Item {number}",
            ITEM + ".Attributes": dbus.Dictionary({"number": str(number)}, signature="ss"),
        }
        secret = dbus.Struct(
            (dbus.ObjectPath(session), dbus.ByteArray(b""), dbus.ByteArray(b"secret"), "text/plain"), signature="oayays"
        )
        call.append(dbus.Dictionary(properties, signature="sv"), secret, False, signature="a{sv}(oayays)b")
        waiting.append(bus.send_message_with_reply(call, lambda reply: None, 60))
        if len(waiting) == 32:
            for pending in waiting:
                pending.block()
            waiting.clear()
    for pending in waiting:
        pending.block()


def time_locking(machine, paths):
    """Returns the milliseconds from the signal to the last lock."""
    loop, unlocked, begin = GLib.MainLoop(), set(paths), [0.0]

    def note(interface, changed, invalidated, path):
        if interface == COLLECTION and changed.get("Locked"):
            unlocked.discard(path)
            if not unlocked:
                loop.quit()

    def note_begin(*_):
        begin[0] = time.perf_counter()

    machine.bus.add_signal_receiver(
        note, "PropertiesChanged", "org.freedesktop.DBus.Properties", SECRETS, path_keyword="path"
    )
    machine.bus.add_signal_receiver(note_begin, "PrepareForSleep", LOGIND + ".Manager")
    signal = LOGIND + ".Manager", "PrepareForSleep", "b", [True]
    machine.logind.EmitSignal(*signal, dbus_interface=MOCK, reply_handler=lambda: None, error_handler=print)
    loop.run()
    return (time.perf_counter() - begin[0]) * 1000


def time_login(machine):
    """Returns the median duration of a login in milliseconds."""
    service = machine.bus.get_object(SECRETS, ROOT)
    password = b"password"
    frame = struct.pack(">8sIHH1024s1024s", b"KCHNPAM\1", 1, len(password), 0, password, b"")
    durations = []
    for _ in range(ROUNDS):
        service.Lock([ROOT + "/collection/login"], dbus_interface=SERVICE)
        begin = time.perf_counter()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.connect(machine.environment["XDG_RUNTIME_DIR"] + "/keychaind/pam")
            connection.send(frame)
            assert connection.recv(16) == b"KCHNPAM\1" + bytes(8)
            durations.append(time.perf_counter() - begin)
        # Replies when login is unlocked.
        service.Unlock([ROOT + "/collection/login"], dbus_interface=SERVICE)
    return statistics.median(durations) * 1000


def time_portal(bus):
    """Returns the median duration of RetrieveSecret, as a multiple of Ping."""
    bus.request_name("org.freedesktop.portal.Desktop")
    backend = bus.get_object("org.freedesktop.impl.portal.desktop.keychaind", "/org/freedesktop/portal/desktop")

    def ask():
        reading, writing = os.pipe()
        begin = time.perf_counter()
        response, _ = backend.RetrieveSecret(
            "/org/freedesktop/portal/desktop/request/1/1", "org.example.App", dbus.types.UnixFd(writing),
            dbus.Dictionary({}, signature="sv"), dbus_interface="org.freedesktop.impl.portal.Secret",
        )
        duration = time.perf_counter() - begin
        os.close(writing)
        secret = os.read(reading, 1024)
        os.close(reading)
        assert response == 0 and len(secret) == 64
        return duration

    def ping():
        begin = time.perf_counter()
        backend.Ping(dbus_interface="org.freedesktop.DBus.Peer")
        return time.perf_counter() - begin

    ask()
    pairs = [(ask(), ping()) for _ in range(50 * ROUNDS)]
    return statistics.median(first for first, _ in pairs) / statistics.median(second for _, second in pairs)


def main():
    DBusGMainLoop(set_as_default=True)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.realpath(sys.argv[1]), folder)
        try:
            paths = make_collections(machine.bus)
            print(f"login session, without key derivation: {time_login(machine):.1f} ms (at most 20)")
            print(f"RetrieveSecret: {time_portal(machine.bus):.2f} x Ping (at most 3)")
            locking = time_locking(machine, paths)
            print(f"lock before sleep, {COLLECTIONS * ITEMS} items: {locking:.1f} ms (at most 50)")
        finally:
            machine.stop()


main()
