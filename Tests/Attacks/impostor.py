"""impostor.py KEPT COMMAND...: runs a command as systemd runs the next process of a service: with what was kept.

KEPT is a file with the bytes of the descriptor.
"""

import fcntl
import os
import sys

with open(sys.argv[1], "rb") as file:
    kept = file.read()
keys = os.memfd_create("keychain-keys", os.MFD_ALLOW_SEALING)
os.write(keys, kept)
fcntl.fcntl(keys, 1033, 7)  # F_ADD_SEALS, and the seals of the size
os.dup2(keys, 3, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="keychain-keys")
os.execv(sys.argv[2], sys.argv[2:])
