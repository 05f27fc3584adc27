"""peers.py PATH: connects to the daemon as clients other than logins; prints how many were refused."""

import socket
import struct
import sys

MAGIC = b"KCHNPAM\x01"


def frame(magic=MAGIC, operation=1, length=4, new_length=0, password=b"pass", new_password=b""):
    head = magic + struct.pack(">IHH", operation, length, new_length)
    return head + password.ljust(1024, b"\0") + new_password.ljust(1024, b"\0")


def is_refused(packet):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(60)
    connection.connect(sys.argv[1])
    try:
        connection.send(packet)
        answer = connection.recv(64)
        return answer in (b"", MAGIC + struct.pack(">II", 4, 0))
    except (BrokenPipeError, ConnectionResetError):
        return True


packets = [
    b"x",
    frame()[:-1],
    frame() + b"\0",
    b"\0" * 200000,
    frame(magic=b"KCHNPAM\x02"),
    frame(operation=9),
    frame(length=2000),
    frame(length=0),
    frame(length=3),
]
print("refused:", sum(map(is_refused, packets)))
