"""listener.py SOCKET FILE: listens where a login's password was once sent, and writes down what it hears."""

import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    while True:
        connection, _ = listener.accept()
        with connection, open(sys.argv[2], "ab") as file:
            connection.settimeout(5)
            try:
                while heard := connection.recv(4096):
                    file.write(heard)
            except TimeoutError:
                pass
