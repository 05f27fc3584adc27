#!/usr/bin/python3
"""refused_deletion.py KEYCHAIND FAULTS.SO FOLDER: deletions of `login` in a folder without room for a longer name.

With it go an item that exists only as long as there is a passcode, and a past file. If the file cannot be removed
either, all of that stays; if it can, nothing does.
"""

import shutil
import sys

from faults import ENOSPC, LOGIN, SCHEMA, SECRET, Refused, Run, eventually, item, run_prompt

BOUND = {"n": "bound", "keychain:accessible": "whenPasscodeSetThisDeviceOnly", **SCHEMA}


def case(run, operations, is_refused):
    """What is wrong after a deletion in which these operations on the file of `login` fail."""
    run.reset()
    shutil.copy(run.data / "login.keychain", run.data / "login.keychain-past-1796000000")
    daemon = run.start()
    daemon.wait()
    client = daemon.client
    eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
    client.create("bank", BOUND, "x")

    def past_files():
        return sorted(path.name for path in run.data.glob("login.keychain-past-*"))

    items, before = client.get(LOGIN, "Collection", "Items"), past_files()
    problems = [] if len(items) == 4 and before else [f"unprepared: {items}, {before}"]
    run.faults.arm(run.data / "login.keychain", operations, 1, "fail", ENOSPC, repeat=1000)
    try:
        run_prompt(client, *client.call(LOGIN, SECRET + "Collection", "Delete"))
        was_refused = False
    except Refused:
        was_refused = True
    if run.faults.disarm() == 0:
        problems.append("nothing has failed")
    if was_refused != is_refused:
        problems.append(f"refused: {was_refused}")
    if is_refused:
        if past_files() != before:
            problems.append(f"past files: {past_files()} of {before}")
        client.create("new", {"n": "new", **SCHEMA}, "new")
        daemon.kill()
        daemon = run.start()
        daemon.wait()
        client = daemon.client
        eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
        items_now = client.get(LOGIN, "Collection", "Items")
        if len(items_now) != 5 or client.read(item(client, "1")) != b"secret 1" or past_files() != before:
            problems.append(f"after a kill: {items_now}, {past_files()}")
    else:
        left = sorted(path.name for path in run.data.glob("**/login*") if path.parent.name != "backup")
        if left or client.get(LOGIN, "Collection", "Items"):
            problems.append(f"left: {left}")
    daemon.kill()
    return [f"FAILED {operations}: {problem}" for problem in problems]


def main():
    run = Run(*sys.argv[1:])
    run.answers.write_text("agree p\n")
    try:
        failures = case(run, "rename+unlink", True) + case(run, "rename", False)
    finally:
        run.end()
    print(*failures, f"2 cases, {len(failures)} failures", sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
