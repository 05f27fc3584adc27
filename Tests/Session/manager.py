"""manager.py COMMAND...: the part of systemd's user manager that keychaind's socket needs.

Listens for logins, and starts the command with the first one. SIGTERM ends it. Prints "started PID" and "stopped".
"""

import os
import select
import signal
import socket
import subprocess
import sys

runtime = os.environ["XDG_RUNTIME_DIR"]
where = runtime + "/keychaind/pam"
os.makedirs(runtime + "/keychaind", mode=0o700, exist_ok=True)
logins = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
if os.path.exists(where):
    os.unlink(where)
logins.bind(where)
logins.listen()
os.chmod(where, 0o600)

child = None
signal.signal(signal.SIGTERM, lambda *_: None)
wake, waker = socket.socketpair()
waker.setblocking(False)
signal.set_wakeup_fd(waker.fileno())


def start():
    def place():
        # Moved first: with its own number, it would not become inheritable.
        os.dup2(os.dup(logins.fileno()), 3, inheritable=True)

    environment = dict(os.environ, LISTEN_FDS="1", LISTEN_FDNAMES="login")
    process = subprocess.Popen(
        ["sh", "-c", 'export LISTEN_PID=$$; exec "$@"', "sh"] + sys.argv[1:],
        env=environment, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
    )
    print("started", process.pid, flush=True)
    return process


while True:
    ready, _, _ = select.select([wake] + ([logins] if child is None else []), [], [], 0.2)
    if wake in ready:
        break
    if logins in ready:
        child = start()
    elif child is not None and child.poll() is not None:
        child = None
if child is not None:
    child.terminate()
    child.wait()
os.unlink(where)
print("stopped", flush=True)
