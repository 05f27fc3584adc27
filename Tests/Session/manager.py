"""manager.py COMMAND...: the parts of systemd's user manager that keychaind's units need.

Listens for logins and starts the command with the first one. Keeps the descriptors that the command wants kept. SIGHUP starts it
anew; SIGTERM ends it, and then nothing is kept any more. Prints "started PID" and "kept N" each time.
"""

import array
import os
import select
import signal
import socket
import subprocess
import sys

runtime = os.environ["XDG_RUNTIME_DIR"]
os.makedirs(runtime + "/keychaind", mode=0o700, exist_ok=True)
logins = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for where, endpoint in ((runtime + "/keychaind/pam", logins), (runtime + "/notify", notices)):
    if os.path.exists(where):
        os.unlink(where)
    endpoint.bind(where)
logins.listen()
os.chmod(runtime + "/keychaind/pam", 0o600)

kept = []
child = None
asked = None
wanted = []
signal.signal(signal.SIGHUP, lambda *_: wanted.append("restart"))
signal.signal(signal.SIGTERM, lambda *_: wanted.append("stop"))
wake, waker = socket.socketpair()
waker.setblocking(False)
signal.set_wakeup_fd(waker.fileno())


def start():
    global child, kept
    passed = [("login", logins.fileno())] + kept

    def place():
        # Moved first, since the numbers may be in use.
        high = [os.dup(descriptor) for _, descriptor in passed]
        for number, descriptor in enumerate(high, start=3):
            os.dup2(descriptor, number, inheritable=True)

    environment = dict(
        os.environ,
        NOTIFY_SOCKET=runtime + "/notify",
        LISTEN_FDS=str(len(passed)),
        LISTEN_FDNAMES=":".join(name for name, _ in passed),
    )
    child = subprocess.Popen(
        ["sh", "-c", 'export LISTEN_PID=$$; exec "$@"', "sh"] + sys.argv[1:],
        env=environment, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
    )
    print("started", child.pid, flush=True)


def hear():
    global kept
    room = socket.CMSG_SPACE(4 * 4)
    message, ancillary, _, _ = notices.recvmsg(4096, room)
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % 4])
    fields = dict(line.split("=", 1) for line in message.decode().splitlines() if "=" in line)
    if fields.get("FDSTORE") == "1":
        kept += [(fields["FDNAME"], descriptor) for descriptor in descriptors]
        print("kept", len(kept), flush=True)
        return
    if fields.get("FDSTOREREMOVE") == "1":
        for _, descriptor in [entry for entry in kept if entry[0] == fields["FDNAME"]]:
            os.close(descriptor)
        kept = [entry for entry in kept if entry[0] != fields["FDNAME"]]
        print("kept", len(kept), flush=True)
    for descriptor in descriptors:
        os.close(descriptor)


while True:
    sources = [notices, wake] + ([logins] if child is None else [])
    ready, _, _ = select.select(sources, [], [], 0.2)
    if notices in ready:
        hear()
    if wake in ready:
        wake.recv(64)
    if logins in ready and child is None:
        start()
    # Once, as systemd does: a second signal would end the daemon at once.
    if wanted and child is not None and asked is not child:
        child.terminate()
        asked = child
    if child is not None and child.poll() is not None:
        child = None
        if "stop" in wanted:
            for _, descriptor in kept:
                os.close(descriptor)
            kept = []
            os.unlink(runtime + "/keychaind/pam")
            print("stopped", flush=True)
            break
        elif "restart" in wanted:
            start()
        wanted.clear()
