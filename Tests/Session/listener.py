"""listener.py PATH [nonsense]: listens where the daemon should, says what it hears, and answers nothing or nonsense."""

import os
import socket
import sys

if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    frame = connection.recv(4096)
    if frame:
        print("heard", len(frame), flush=True)
        if sys.argv[2:] == ["nonsense"]:
            connection.send(b"x" * 70000)
