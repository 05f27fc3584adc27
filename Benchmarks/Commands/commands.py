#!/usr/bin/env python3
"""Measures keychainctl as a whole process, on a private bus with 10,000 items.

Usage: commands.py FOLDER [ITEMS]   (the folder of keychaind and keychainctl, such as .build/release)
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 30


def main():
    if "KEYCHAIND_BENCHMARK_FOLDER" not in os.environ:
        with tempfile.TemporaryDirectory() as home:
            own = dict(os.environ, KEYCHAIND_BENCHMARK_FOLDER=home, HOME=home, XDG_RUNTIME_DIR=home)
            own["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={home}/none"
            for name in ("DATA", "STATE", "CONFIG", "CACHE"):
                own[f"XDG_{name}_HOME"] = f"{home}/{name.lower()}"
            command = ["dbus-run-session", "--", sys.executable, *sys.argv]
            sys.exit(subprocess.run(command, env=own).returncode)
    folder = os.path.realpath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    daemon = subprocess.Popen([f"{folder}/keychaind", "--unlock"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    daemon.stdin.write(b"password")
    daemon.stdin.close()
    subprocess.run(["gdbus", "wait", "--session", "org.freedesktop.secrets"], check=True)
    try:
        measure(f"{folder}/keychainctl", count)
    finally:
        daemon.terminate()
        daemon.wait()


def measure(program, count):
    table = os.path.join(os.environ["KEYCHAIND_BENCHMARK_FOLDER"], "passwords.csv")
    with open(table, "w") as file:
        file.write("name,url,username,password\n")
        for number in range(count):
            file.write(f"site{number},https://site{number}.example/,user{number},word{number}\n")
    subprocess.run([program, "import", table], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([program, "set", "service=one"], input=b"secret", check=True)
    for arguments, bound in (
        (["version"], None),
        (["get", "service=one"], 12),
        (["list"], 120),
        (["list", "--json"], None),
        (["status"], 50),
    ):
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - start) * 1000)
        middle, best = statistics.median(times), min(times)
        verdict = "" if bound is None else f"  bound {bound} ms: {'held' if middle <= bound else 'MISSED'}"
        print(f"{' '.join(arguments):16} {middle:7.1f} ms, at best {best:.1f}{verdict}")


if __name__ == "__main__":
    main()
