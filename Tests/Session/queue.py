"""queue.py PATH: fills the connection queue of a listener that accepts nothing, and leaves it full."""

import socket
import sys

connections = []
while True:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.setblocking(False)
    connections.append(connection)
    try:
        connection.connect(sys.argv[1])
    except BlockingIOError:
        break
