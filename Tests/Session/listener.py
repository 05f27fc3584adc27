"""listener.py PATH [nonsense | GROUP]: listens in place of the daemon, and replies nothing or nonsense.

With the number of a group, it has only that one when it begins to listen.
"""

import os
import socket
import sys

if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
if sys.argv[2:] and sys.argv[2].isdigit():
    group = int(sys.argv[2])
    os.setresgid(group, group, group)
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    frame = connection.recv(4096)
    if frame:
        print("heard", len(frame), flush=True)
        if sys.argv[2:] == ["nonsense"]:
            connection.send(b"x" * 70000)
