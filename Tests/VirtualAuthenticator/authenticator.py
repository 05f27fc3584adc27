#!/usr/bin/python3
"""A security key in software: CTAP2 over CTAPHID reports, each a packet of a Unix socket.

Usage: authenticator.py SOCKET STATE CONTROL

Obeys one command for each connection to the stream socket CONTROL, and closes it when that is done. Prints "ready",
"waiting" when it waits for a touch, and "cancelled" when the other side gives up. STATE is a file that keeps
credentials and the PIN.

    touch               someone touches it, now or as soon as it asks
    pin TEXT            sets the PIN and its tries
    lacks EXTENSION     it does not have hmac-secret or credProtect
    says N HEX          the answer to the CBOR request after the next N is these bytes, whatever they are
    forget              gives other secrets for the same credentials
    rest                drops touches and answers that nobody has asked for
    mute                it answers nothing any more
    unplug              it goes
"""

import hashlib
import hmac
import json
import os
import queue
import secrets
import socket
import struct
import sys
import threading

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

INIT, CBOR, CANCEL, KEEPALIVE, PING, ERROR = 0x06, 0x10, 0x11, 0x3B, 0x01, 0x3F
BROADCAST = 0xFFFFFFFF
REPORT = 64

OK = 0x00
INVALID_COMMAND = 0x01
CREDENTIAL_EXCLUDED = 0x19
UNSUPPORTED_ALGORITHM = 0x26
KEEPALIVE_CANCEL = 0x2D
NO_CREDENTIALS = 0x2E
ACTION_TIMEOUT = 0x3A
PIN_INVALID = 0x31
PIN_BLOCKED = 0x32
PIN_AUTH_INVALID = 0x33
PIN_AUTH_BLOCKED = 0x34
PIN_NOT_SET = 0x35
PIN_REQUIRED = 0x36
MISSING_PARAMETER = 0x14

PIN_TRIES = 8
# Wrong PINs in a row before the key has to be plugged in again.
PIN_TRIES_IN_A_ROW = 3


class Refusal(Exception):
    """A CTAP2 error."""

    def __init__(self, code):
        super().__init__(hex(code))
        self.code = code


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


class PINProtocol:
    """PIN/UV auth protocol one."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.token = secrets.token_bytes(32)

    def public_key(self):
        numbers = self.key.public_key().public_numbers()
        return {1: 2, 3: -25, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}

    def shared(self, platform):
        x, y = (int.from_bytes(platform[name], "big") for name in (-2, -3))
        public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        return sha256(self.key.exchange(ec.ECDH(), public))

    @staticmethod
    def _cipher(key):
        return Cipher(algorithms.AES(key), modes.CBC(bytes(16)))

    def encrypt(self, key, text):
        encryptor = self._cipher(key).encryptor()
        return encryptor.update(text) + encryptor.finalize()

    def decrypt(self, key, text):
        decryptor = self._cipher(key).decryptor()
        return decryptor.update(text) + decryptor.finalize()

    @staticmethod
    def verify(key, text, signature):
        return hmac.compare_digest(mac(key, text)[:16], signature)


class Authenticator:
    """What the key does, and what it remembers."""

    def __init__(self, state, wait_for_touch):
        self.path = state
        self.wait_for_touch = wait_for_touch
        self.protocol = PINProtocol()
        self.wrong_in_a_row = 0
        self.extensions = ["hmac-secret", "credProtect"]
        self.forged = None
        self.state = {"master": secrets.token_hex(32), "pin": None, "tries": PIN_TRIES, "credentials": {}}
        if os.path.exists(state):
            with open(state, encoding="utf-8") as file:
                self.state = json.load(file)

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.state, file)

    def set_pin(self, pin):
        self.state["pin"] = sha256(pin.encode())[:16].hex()
        self.state["tries"] = PIN_TRIES
        self.save()

    def perform(self, request):
        """Answers a CBOR request with a status and CBOR."""
        if self.forged is not None:
            later, answer = self.forged
            self.forged = (later - 1, answer) if later > 0 else None
            if later == 0:
                return answer
        try:
            parameters = cbor2.loads(request[1:]) if len(request) > 1 else {}
            command = {1: self.make, 2: self.get, 4: self.info, 6: self.client_pin}.get(request[0])
            if command is None:
                raise Refusal(INVALID_COMMAND)
            answer = command(parameters)
            return bytes([OK]) + (cbor2.dumps(answer, canonical=True) if answer is not None else b"")
        except Refusal as refusal:
            return bytes([refusal.code])

    def info(self, _):
        options = {"rk": False, "up": True, "plat": False, "clientPin": self.state["pin"] is not None}
        return {
            1: ["FIDO_2_0"],
            2: self.extensions,
            3: b"keychaind tests!",
            4: options,
            5: 1200,
            6: [1],
        }

    # PINs

    def client_pin(self, parameters):
        subcommand = parameters[2]
        if subcommand == 1:
            return {3: self.state["tries"]}
        if subcommand == 2:
            return {1: self.protocol.public_key()}
        if subcommand == 5:
            return {2: self.pin_token(parameters)}
        raise Refusal(INVALID_COMMAND)

    def pin_token(self, parameters):
        if self.state["pin"] is None:
            raise Refusal(PIN_NOT_SET)
        if self.state["tries"] == 0:
            raise Refusal(PIN_BLOCKED)
        if self.wrong_in_a_row >= PIN_TRIES_IN_A_ROW:
            raise Refusal(PIN_AUTH_BLOCKED)
        shared = self.protocol.shared(parameters[3])
        self.state["tries"] -= 1
        self.save()
        if self.protocol.decrypt(shared, parameters[6]).hex() != self.state["pin"]:
            self.wrong_in_a_row += 1
            self.protocol = PINProtocol()
            if self.state["tries"] == 0:
                raise Refusal(PIN_BLOCKED)
            if self.wrong_in_a_row >= PIN_TRIES_IN_A_ROW:
                raise Refusal(PIN_AUTH_BLOCKED)
            raise Refusal(PIN_INVALID)
        self.wrong_in_a_row = 0
        self.state["tries"] = PIN_TRIES
        self.save()
        return self.protocol.encrypt(shared, self.protocol.token)

    def is_verified(self, signature, client_data):
        if signature is None:
            return False
        if not self.protocol.verify(self.protocol.token, client_data, signature):
            raise Refusal(PIN_AUTH_INVALID)
        return True

    # Credentials

    def make(self, parameters):
        client_data, party = parameters[1], parameters[2]["id"]
        is_verified = self.is_verified(parameters.get(8), client_data)
        if self.state["pin"] is not None and not is_verified:
            raise Refusal(PIN_REQUIRED)
        if not any(algorithm["alg"] == -7 for algorithm in parameters[4]):
            raise Refusal(UNSUPPORTED_ALGORITHM)
        for excluded in parameters.get(5, []):
            if self.find(excluded["id"], party, is_verified):
                self.wait_for_touch()
                raise Refusal(CREDENTIAL_EXCLUDED)
        self.wait_for_touch()
        wanted = parameters.get(6, {})
        extensions = {}
        if wanted.get("hmac-secret") and "hmac-secret" in self.extensions:
            extensions["hmac-secret"] = True
        if "credProtect" in wanted and "credProtect" in self.extensions:
            extensions["credProtect"] = wanted["credProtect"]
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = secrets.token_bytes(64)
        self.state["credentials"][identifier.hex()] = {
            "party": party,
            "key": hex(key.private_numbers().private_value),
            "protection": extensions.get("credProtect", 1),
        }
        self.save()
        public = key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: public.x.to_bytes(32, "big"), -3: public.y.to_bytes(32, "big")}
        attested = b"keychaind tests!" + struct.pack(">H", len(identifier)) + identifier
        attested += cbor2.dumps(cose, canonical=True)
        data = self.authenticator_data(party, is_verified, 0x40, attested, extensions)
        return {1: "packed", 2: data, 3: {"alg": -7, "sig": self.sign(key, data + client_data)}}

    def get(self, parameters):
        party, client_data = parameters[1], parameters[2]
        is_verified = self.is_verified(parameters.get(6), client_data)
        needs_touch = parameters.get(5, {}).get("up", True)
        found = None
        for allowed in parameters.get(3, []):
            found = found or self.find(allowed["id"], party, is_verified)
        if found is None:
            if needs_touch:
                self.wait_for_touch()
            raise Refusal(NO_CREDENTIALS)
        identifier, credential = found
        if needs_touch:
            self.wait_for_touch()
        extensions = {}
        secret = parameters.get(4, {}).get("hmac-secret")
        if secret is not None and "hmac-secret" in self.extensions:
            extensions["hmac-secret"] = self.hmac_secret(secret, identifier, is_verified)
        data = self.authenticator_data(party, is_verified, 0 if needs_touch else -1, b"", extensions)
        key = ec.derive_private_key(int(credential["key"], 16), ec.SECP256R1())
        return {
            1: {"type": "public-key", "id": identifier},
            2: data,
            3: self.sign(key, data + client_data),
        }

    def find(self, identifier, party, is_verified):
        credential = self.state["credentials"].get(identifier.hex())
        if credential is None or credential["party"] != party:
            return None
        if credential["protection"] == 3 and not is_verified:
            return None
        return identifier, credential

    def hmac_secret(self, secret, identifier, is_verified):
        shared = self.protocol.shared(secret[1])
        if not self.protocol.verify(shared, secret[2], secret[3]):
            raise Refusal(PIN_AUTH_INVALID)
        salt = self.protocol.decrypt(shared, secret[2])
        # Each credential has two secrets: one for a touch alone, one for the PIN.
        kind = b"verified" if is_verified else b"touched"
        random = mac(bytes.fromhex(self.state["master"]), kind, identifier)
        outputs = b"".join(mac(random, salt[i : i + 32]) for i in range(0, len(salt), 32))
        return self.protocol.encrypt(shared, outputs)

    @staticmethod
    def authenticator_data(party, is_verified, flags, attested, extensions):
        bits = 0 if flags < 0 else 0x01 | flags
        bits |= (0x04 if is_verified else 0) | (0x80 if extensions else 0)
        data = sha256(party.encode()) + bytes([bits]) + bytes(4) + attested
        return data + (cbor2.dumps(extensions, canonical=True) if extensions else b"")

    @staticmethod
    def sign(key, text):
        return key.sign(text, ec.ECDSA(hashes.SHA256()))


class Gone(Exception):
    """The other side has closed."""


class Channel:
    """CTAPHID over one connection."""

    def __init__(self, connection, key):
        self.connection = connection
        self.key = key
        self.reports = queue.Queue()
        self.next_channel = 1
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                report = self.connection.recv(REPORT + 1)
            except OSError:
                report = b""
            self.reports.put(report)
            self.key.wake()
            if not report:
                return

    def take(self, timeout=None):
        report = self.reports.get(timeout=timeout)
        if not report:
            raise Gone
        return report

    def send(self, channel, command, content):
        parts = [struct.pack(">IBH", channel, 0x80 | command, len(content)) + content[:57]]
        rest, number = content[57:], 0
        while rest:
            parts.append(struct.pack(">IB", channel, number) + rest[:59])
            rest, number = rest[59:], number + 1
        try:
            for part in parts:
                self.connection.send(part.ljust(REPORT, b"\0"))
        except OSError as error:
            raise Gone from error

    def receive(self):
        report = self.take()
        channel, command, size = struct.unpack(">IBH", report[:7])
        content = report[7:]
        while len(content) < size:
            content += self.take()[5:]
        return channel, command & 0x7F, content[:size]

    def serve(self):
        while True:
            channel, command, content = self.receive()
            if self.key.is_mute:
                continue
            if command == INIT:
                answer = content[:8] + struct.pack(">IBBBBB", self.next_channel, 2, 1, 0, 0, 0x04 | 0x08)
                self.next_channel += 1
                self.send(channel, INIT, answer)
            elif command == PING:
                self.send(channel, PING, content)
            elif command == CBOR:
                self.key.current = (self, channel)
                self.send(channel, CBOR, self.key.authenticator.perform(content))
            elif command != CANCEL:
                self.send(channel, ERROR, b"\x01")


class Key:
    """The key in a port: its socket, its button and its light."""

    # A real key waits for 30 seconds.
    PATIENCE = 30

    def __init__(self, path, state):
        self.authenticator = Authenticator(state, self.wait_for_touch)
        self.touches = 0
        self.condition = threading.Condition()
        self.current = None
        self.is_mute = False
        self.former = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.path = path
        self.connections = []
        # It appears as a key that answers.
        self.listener.bind(state + ".socket")
        self.listener.listen(8)
        os.rename(state + ".socket", path)
        threading.Thread(target=self.accept, daemon=True).start()

    @staticmethod
    def say(text):
        print(text, flush=True)

    def wake(self):
        with self.condition:
            self.condition.notify_all()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            Channel(connection, self).serve()
        except Gone:
            pass
        finally:
            connection.close()

    def wait_for_touch(self):
        """Keeps the other side waiting until someone touches the key."""
        channel, number = self.current
        self.say("waiting")
        for _ in range(self.PATIENCE * 10):
            channel.send(number, KEEPALIVE, b"\x02")
            with self.condition:
                if self.touches == 0 and channel.reports.empty():
                    self.condition.wait(0.1)
                if self.touches > 0:
                    self.touches -= 1
                    return
            while not channel.reports.empty():
                report = channel.take()
                if report[4] & 0x7F == CANCEL:
                    self.say("cancelled")
                    raise Refusal(KEEPALIVE_CANCEL)
        raise Refusal(ACTION_TIMEOUT)

    def obey(self, line):
        command, _, argument = line.partition(" ")
        if command == "touch":
            with self.condition:
                self.touches += 1
                self.condition.notify_all()
        elif command == "pin":
            self.authenticator.set_pin(argument)
        elif command == "lacks":
            self.authenticator.extensions.remove(argument)
        elif command == "says":
            later, _, digits = argument.partition(" ")
            self.authenticator.forged = (int(later), bytes.fromhex(digits))
        elif command == "forget":
            self.former = self.authenticator.state["master"]
            self.authenticator.state["master"] = secrets.token_hex(32)
        elif command == "remember":
            self.authenticator.state["master"] = self.former
        elif command == "rest":
            self.authenticator.forged = None
            self.touches = 0
        elif command == "mute":
            self.is_mute = True
        elif command == "unplug":
            os.unlink(self.path)
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            os._exit(0)


def main():
    path, state, control = sys.argv[1:]
    commands = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    commands.bind(control)
    commands.listen(8)
    key = Key(path, state)
    key.say("ready")
    while True:
        connection, _ = commands.accept()
        with connection:
            key.obey(connection.makefile(encoding="utf-8").readline().rstrip("\n"))


main()
