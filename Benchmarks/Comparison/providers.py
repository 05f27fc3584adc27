"""The providers of the Secret Service, each with an unlocked collection of its own that asks nobody."""

import base64
import os
import signal
import socket
import subprocess
import tempfile
import time
import uuid

PASSWORD = "password"
BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="max_replies_per_connection">100000</limit>
</busconfig>
"""
KWALLET_CONFIGURATION = """[Wallet]
Enabled=true
First Use=false
Prompt on Open=false
Close When Idle=false
Leave Open=true
Launch Manager=false
Use One Wallet=true
Default Wallet=kdewallet
[org.freedesktop.secrets]
apiEnabled=true
"""
KEEPASSXC_CONFIGURATION = """[General]
ConfigVersion=2
SingleInstance=false
UpdateCheckMessageShown=true
AutoSaveAfterEveryChange=true
OpenPreviousDatabasesOnStartup=false
[Security]
LockDatabaseScreenLock=false
LockDatabaseIdle=false
[FdoSecrets]
Enabled=true
ShowNotification=false
ConfirmDeleteItem=false
ConfirmAccessItem=false
UnlockBeforeSearch=false
"""


class Stage:
    """A home and a bus of its own, with the floor service of the benchmark."""

    def __init__(self, benchmark):
        self.benchmark = benchmark
        self.folder = tempfile.TemporaryDirectory(prefix="keychaind-comparison-")
        self.home = self.folder.name
        for name in ["run", ".config", ".local/share", ".cache"]:
            os.makedirs(f"{self.home}/{name}", mode=0o700)
        address = f"unix:path={self.home}/bus"
        kept = {name: os.environ[name] for name in ["PATH", "LANG"] if name in os.environ}
        self.environment = kept | {
            "HOME": self.home,
            "XDG_RUNTIME_DIR": f"{self.home}/run",
            "DBUS_SESSION_BUS_ADDRESS": address,
            "QT_QPA_PLATFORM": "offscreen",
        }
        self.log = open(f"{self.home}/log", "ab")
        configuration = self.write("bus.conf", BUS_CONFIGURATION.format(socket=f"{self.home}/bus"))
        self.processes = []
        self.bus = self.start(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"])
        until(lambda: os.path.exists(f"{self.home}/bus"), "the bus")
        self.start([benchmark, "--floor"])
        self.wait_for("org.keychaind.Floor")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            stop(process)
        self.log.close()
        self.folder.cleanup()

    def write(self, name, text):
        path = f"{self.home}/{name}"
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, command, stdin="", descriptors=(), **environment):
        process = subprocess.Popen(
            command, env=self.environment | environment, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
            pass_fds=descriptors,
        )  # fmt: skip
        process.stdin.write(stdin.encode())
        process.stdin.close()
        self.processes.append(process)
        return process

    def output(self, *arguments, timeout, may_fail=False):
        """What the benchmark prints beside the running provider; if it may fail, until it fails or the time is over."""
        command = [self.benchmark, *map(str, arguments)]
        try:
            run = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired as error:
            if not may_fail:
                raise
            return (error.stdout or b"").decode().rpartition("\n")[0]
        if run.returncode != 0 and not may_fail:
            raise RuntimeError(f"{' '.join(command[1:])}: {run.stderr.strip()[-300:]}")
        return run.stdout

    def call(self, destination, path, member, *arguments):
        """The words of the answer, as `dbus-send` prints them; none for an error."""
        command = ["dbus-send", "--session", "--print-reply=literal", f"--dest={destination}", path, member]
        return subprocess.run([*command, *arguments], env=self.environment, capture_output=True, text=True).stdout.split()

    def has_owner(self, name):
        return "true" in self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", f"string:{name}")

    def wait_for(self, name):
        until(lambda: self.has_owner(name), name)

    def has_default_collection(self):
        service = ("org.freedesktop.secrets", "/org/freedesktop/secrets")
        answer = self.call(*service, "org.freedesktop.Secret.Service.ReadAlias", "string:default")
        return bool(answer) and answer[0] != "/"

    def has_unlocked_collection(self):
        collection = ("org.freedesktop.secrets", "/org/freedesktop/secrets/aliases/default")
        member = "org.freedesktop.DBus.Properties.Get"
        answer = self.call(*collection, member, "string:org.freedesktop.Secret.Collection", "string:Locked")
        return answer[-1:] == ["false"]


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} does not come")
        time.sleep(0.02)


def stop(process, with_signal=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(with_signal)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run_keychaind(stage):
    program = os.environ.get("KEYCHAIND", os.path.join(os.path.dirname(stage.benchmark), "keychaind"))
    return stage.start([program, "--unlock", "--prompters", "none"], PASSWORD)


def prepare_gnome_keyring(stage):
    os.makedirs(f"{stage.home}/.local/share/keyrings")
    stage.write(".local/share/keyrings/default", "login")


def run_gnome_keyring(stage):
    return stage.start(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], PASSWORD)


def prepare_kwalletd(stage):
    stage.write(".config/kwalletrc", KWALLET_CONFIGURATION)
    # It exports no wallet that the login has just created, so a first run makes the file.
    first = run_kwalletd(stage)
    until(lambda: os.path.exists(f"{stage.home}/.local/share/kwalletd/kdewallet.kwl"), "the wallet")
    stop(first)
    until(lambda: not stage.has_owner("org.freedesktop.secrets"), "the end of kwalletd5")


def run_kwalletd(stage):
    """Starts kwalletd5 as its PAM module does: with a key on a pipe, and a socket on which the environment came."""
    key, end = os.pipe()
    os.write(end, b"k" * 56)
    os.close(end)
    path = f"{stage.home}/run/kwallet-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as session:
        listener.bind(path)
        listener.listen(1)
        session.connect(path)
        session.close()
        command = ["kwalletd5", "--pam-login", str(key), str(listener.fileno())]
        process = stage.start(command, descriptors=(key, listener.fileno()), PAM_KWALLET5_LOGIN=path)
    os.close(key)
    return process


def prepare_keepassxc(stage):
    group = uuid.uuid4()
    exposed = "<Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{%s}</Value></Item>" % group
    content = stage.write(
        "database.xml",
        '<?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta><DatabaseName>comparison</DatabaseName>'
        f"<RecycleBinEnabled>False</RecycleBinEnabled><CustomData>{exposed}</CustomData></Meta><Root><Group>"
        f"<UUID>{base64.b64encode(group.bytes).decode()}</UUID><Name>Root</Name></Group></Root></KeePassFile>",
    )
    database = keepassxc_database(stage)
    subprocess.run(
        ["keepassxc-cli", "import", "--quiet", "--set-password", "--decryption-time", "100", content, database],
        input=f"{PASSWORD}\n{PASSWORD}\n", text=True, env=stage.environment, check=True, stdout=stage.log,
        stderr=stage.log,
    )  # fmt: skip


def keepassxc_database(stage):
    return f"{stage.home}/comparison.kdbx"


def run_keepassxc(stage):
    options = ["--config", stage.write("keepassxc.ini", KEEPASSXC_CONFIGURATION)]
    options += ["--localconfig", stage.write("keepassxc-local.ini", "")]
    return stage.start(["keepassxc", *options, "--pw-stdin", keepassxc_database(stage)], PASSWORD + "\n")


# What a home needs before the first start, and the start.
PROVIDERS = {
    "keychaind": (lambda stage: None, run_keychaind),
    "gnome-keyring": (prepare_gnome_keyring, run_gnome_keyring),
    "kwalletd5": (prepare_kwalletd, run_kwalletd),
    "KeePassXC": (prepare_keepassxc, run_keepassxc),
}


def start(name, stage):
    """Starts a provider for the first time."""
    PROVIDERS[name][0](stage)
    return start_again(name, stage)


def start_again(name, stage):
    """Starts a provider, and waits until its default collection is there."""
    process = PROVIDERS[name][1](stage)
    stage.wait_for("org.freedesktop.secrets")
    until(stage.has_default_collection, f"the collection of {name}")
    # KeePassXC asks whoever is earlier for the password; KWallet's collection stays locked until somebody asks.
    if name == "KeePassXC":
        until(stage.has_unlocked_collection, "the database")
    return process
