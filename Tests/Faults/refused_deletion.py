#!/usr/bin/python3
"""refused_deletion.py KEYCHAIND FAULTS.SO FOLDER: deletions of `login` in a folder without room for a longer name.

With it go an item that exists only as long as there is a passcode, and the past states. If the file cannot be removed
either, all of that stays; if it can, nothing does.
"""

import sys

from faults import ENOSPC, LOGIN, SCHEMA, SECRET, Refused, Run, eventually, item, run_prompt

BOUND = {"n": "bound", "keychain:accessible": "whenPasscodeSetThisDeviceOnly", **SCHEMA}


def case(run, operations, is_refused):
    """What is wrong after a deletion in which these operations on the file of `login` fail."""
    run.reset()
    daemon = run.start()
    daemon.wait()
    client = daemon.client
    eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
    client.create("bank", BOUND, "x")

    def generations():
        return sorted(path.name for path in run.data.glob("generations/login.*.keychain"))

    items, before = client.get(LOGIN, "Collection", "Items"), generations()
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
        if generations() != before:
            problems.append(f"past states: {generations()} of {before}")
        client.create("new", {"n": "new", **SCHEMA}, "new")
        daemon.kill()
        daemon = run.start()
        daemon.wait()
        client = daemon.client
        eventually("login", lambda: not client.get(LOGIN, "Collection", "Locked"))
        items_now = client.get(LOGIN, "Collection", "Items")
        if len(items_now) != 5 or client.read(item(client, "1")) != b"secret 1" or generations() != before:
            problems.append(f"after a kill: {items_now}, {generations()}")
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
