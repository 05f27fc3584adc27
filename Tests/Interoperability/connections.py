"""Opens thousands of sessions and connections; the daemon must free their memory.

usage: connections.py COUNT
"""

import os
import sys

import dbus.bus

NAME, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"


def connect():
    return dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])


def call(connection, member, signature, *arguments):
    return connection.call_blocking(NAME, ROOT, "org.freedesktop.Secret.Service", member, signature, arguments)


def open_session(connection):
    call(connection, "OpenSession", "sv", "plain", dbus.String("", variant_level=1))


def search(connection):
    call(connection, "SearchItems", "a{ss}", dbus.Dictionary({"name": "value"}, signature="ss"))


def come_and_go(count):
    for _ in range(count):
        connection = connect()
        open_session(connection)
        search(connection)
        connection.close()


def resources(process, other):
    # One that is open for a moment, such as of a file in /proc, is no leak: the fewest between many calls.
    descriptors = len(os.listdir(f"/proc/{process}/fd"))
    for _ in range(200):
        search(other)
        descriptors = min(descriptors, len(os.listdir(f"/proc/{process}/fd")))
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))
    return memory, descriptors


def main(count):
    greedy, other = connect(), connect()
    process = greedy.call_blocking(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", (NAME,)
    )
    for _ in range(10 * count):
        open_session(greedy)
    open_session(other)
    greedy.close()

    # The first ones fill what the allocator keeps. It also grows by chance, but a leak grows with every round.
    come_and_go(2 * count)
    growth, memory, descriptors = [], *resources(process, other)
    for _ in range(3):
        come_and_go(count)
        later_memory, later_descriptors = resources(process, other)
        assert later_descriptors <= descriptors, (descriptors, later_descriptors)
        growth.append(later_memory - memory)
        memory = later_memory
    # Enough to notice a leak of 100 bytes per connection.
    assert min(growth) <= count // 10, growth


main(int(sys.argv[1]))
