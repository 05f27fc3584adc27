"""rule_callers.py ITEM: reads an item over connections whose process ends, or becomes another program, in between."""

import os
import select
import socket
import subprocess
import sys
import time

from jeepney.io.blocking import DBusConnection

from secrets_client import *


def reading(client, item):
    try:
        return client.read(item).decode()
    except Refused as error:
        return error.args[0].split(".")[-1]


def end_parent():
    """Goes on in a child, which has the connection, once the process that made it has ended."""
    end = select.poll()
    end.register(os.pidfd_open(os.getpid()), select.POLLIN)
    if os.fork():
        os._exit(0)
    end.poll()
    outlast_look()


def outlast_look():
    """Waits until the service looks at the process again, a millisecond later (docs/rules.md); no event tells of it."""
    time.sleep(0.01)


def execute(client, first):
    """Goes on in another program, which has the connection."""
    os.set_inheritable(client.connection.sock.fileno(), True)
    loader = next(line.split()[-1] for line in open("/proc/self/maps") if "/ld-linux" in line)
    descriptor = str(client.connection.sock.fileno())
    outlast_look()
    os.execv(loader, [loader, sys.executable, __file__, item, "executed", descriptor, client.session, first])


def inherited(descriptor, session):
    """A client of a connection that the bus knows already, and that would refuse a second greeting."""
    client = Client.__new__(Client)
    client.connection = DBusConnection.__new__(DBusConnection)
    super(DBusConnection, client.connection).__init__(socket.socket(fileno=int(descriptor)))
    client.session = session
    return client


def show(*readings):
    print(*readings, flush=True)


def check(name, expected, *arguments):
    """Runs a reader; its end of the pipe closes with the last process that has it."""
    command = ["/usr/bin/python3", __file__, item, *arguments]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{name}: {'held' if told == expected else f'GOT IN, with {told!r}'}", flush=True)


item, how, *former = sys.argv[1], *(sys.argv[2:] or [None])
match how:
    case None:
        check("a program that lives has the item", "secret secret", "lives")
        check("a connection that was handed on has it no more", "secret AccessDenied", "dies")
        check("one that was handed on before the first read neither", "AccessDenied", "dies first")
        check("nor one whose process has become another program", "secret AccessDenied", "executes")
    case "executed":
        show(former[2], reading(inherited(former[0], former[1]), item))
    case "dies first":
        client = Client()
        end_parent()
        show(reading(client, item))
    case _:
        client = Client()
        first = reading(client, item)
        if how == "dies":
            end_parent()
        if how == "executes":
            execute(client, first)
        show(first, reading(client, item))
