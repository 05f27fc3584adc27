"""Programs in sandboxes as Flatpak makes them, by real bubblewrap.

`Sandbox(id)` starts one. `run` evaluates an expression in it, in which `c` is a Client of its own connection.
"""

import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.environ["XDG_RUNTIME_DIR"]
BUS = os.environ["DBUS_SESSION_BUS_ADDRESS"].removeprefix("unix:path=").split(",")[0]
numbers = iter(range(1000, 2000))

# Flatpak's own arrangement: a root of its own, a PID namespace, and the runtime read-only.
ROOT_FOLDERS = [
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc", "--tmpfs", "/tmp", "--proc", "/proc",
    "--dev", "/dev", "--ro-bind", FOLDER, FOLDER, "--bind", BUS, BUS,
]  # fmt: skip

# The same inside of a sandbox, which the kernel lets mount no /proc.
NESTED = [
    "bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
    "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
    "--tmpfs", "/tmp", "--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev", "--ro-bind", FOLDER, FOLDER,
    "--bind", BUS, BUS,
]  # fmt: skip


def nested(text):
    """A command that makes a sandbox with a file of this text, for inside of another one."""
    script = f"exec 9<<'END'\n{text}END\n" + 'exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *NESTED, "--ro-bind-data", "9", "/.flatpak-info", "--"]


def info(application, instance):
    return f"[Application]\nname={application}\nruntime=runtime/org.example.Platform/x86_64/1\n\n" + (
        f"[Instance]\ninstance-id={instance}\n"
    )


def record(instance, text):
    """Flatpak's record of an instance, outside of its sandbox."""
    os.makedirs(f"{RUNTIME}/.flatpak/{instance}", exist_ok=True)
    with open(f"{RUNTIME}/.flatpak/{instance}/info", "w") as file:
        file.write(text)


class Program:
    """A program with an interpreter of expressions on its standard input."""

    def __init__(self, command=(), descriptors=(), bus=BUS):
        environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}", "PYTHONPATH": FOLDER}
        self.process = subprocess.Popen(
            [*command, "/usr/bin/python3", f"{FOLDER}/sandboxed.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=descriptors, env=environment,
        )  # fmt: skip
        for descriptor in descriptors:
            os.close(descriptor)

    def run(self, expression):
        self.start(expression)
        return self.answer(expression)

    def start(self, expression):
        print(repr(expression), file=self.process.stdin, flush=True)

    def answer(self, expression="the end"):
        answer = self.process.stdout.readline()
        if not answer:
            raise EOFError(f"the program ended at {expression}")
        return eval(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Sandbox(Program):
    """A Flatpak; or a forged one, whose file says something else than the record outside, or can be written."""

    def __init__(self, application, *options, recorded=True, text=None, writable=False, extra=(), bus=BUS):
        self.instance = str(next(numbers))
        own = info(application, self.instance)
        if recorded:
            record(self.instance, recorded if isinstance(recorded, str) else own)
        reader, writer = os.pipe()
        os.write(writer, (own if text is None else text).encode())
        os.close(writer)
        os.set_inheritable(reader, True)
        bind = "--bind-data" if writable else "--ro-bind-data"
        folders = [*ROOT_FOLDERS, *(["--bind", bus, bus] if bus != BUS else [])]
        command = ["bwrap", *folders, "--unshare-pid", "--die-with-parent", bind, str(reader), "/.flatpak-info", *options, "--", *extra]
        super().__init__(command, (reader,), bus)


def sandboxed_clients(*applications):
    return [Sandbox(application) for application in applications]


sys.stdout.reconfigure(line_buffering=True)
