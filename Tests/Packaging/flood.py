"""flood.py CONNECTIONS: calls the Secret Service on each of its connections, and reads no answer, until it is killed.

Prints "floods" once each has sent a thousand calls.
"""

import os
import select
import sys

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection

SERVICE = DBusAddress("/org/freedesktop/secrets", "org.freedesktop.secrets", "org.freedesktop.Secret.Service")

connections = [open_dbus_connection() for _ in range(int(sys.argv[1]))]
call = new_method_call(SERVICE, "ReadAlias", "s", ("default",))
burst = b"".join(call.serialise(serial=serial) for serial in range(10, 1010))
events = select.epoll()
sockets = {}
for connection in connections:
    connection.sock.setblocking(False)
    sockets[connection.sock.fileno()] = connection.sock
    events.register(connection.sock, select.EPOLLOUT)
rest = dict.fromkeys(sockets, b"")
sent = 0
while sockets:
    for descriptor, _ in events.poll():
        data = rest[descriptor] or burst
        try:
            rest[descriptor] = data[sockets[descriptor].send(data):]
        except BlockingIOError:
            continue
        except OSError:
            events.unregister(descriptor)
            del sockets[descriptor]
        sent += not rest[descriptor]
        if sent == len(connections):
            print("floods", flush=True)
