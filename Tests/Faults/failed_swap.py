#!/usr/bin/python3
"""failed_swap.py KEYCHAIND FAULTS.SO FOLDER: a restore and a salvage that fail leave a damaged file where it was.

A frame of `login` is damaged, and each rename of the replacement fails in turn. What was read before is read
afterwards, and after a restart, with what was stored meanwhile.
"""

import itertools
import shutil
import sys

from cheap_slots import Log
from faults import BACKUPS, BACKUPS_INTERFACE, LOGIN, SCHEMA, Refused, Run, contents, eventually, restore, run_prompt

ITEM = 2


def salvage(client):
    run_prompt(client, *client.call(BACKUPS, BACKUPS_INTERFACE, "Salvage", "s", "keychain:login"))


def restore_backup(client):
    restore(client, kind="backup")


def start(run):
    daemon = run.start()
    daemon.wait()
    eventually("login", lambda: not daemon.client.get(LOGIN, "Collection", "Locked"))
    return daemon


def leave_a_damaged_file(run):
    """A template in which the frame of an item of `login` is damaged."""
    run.reset()
    daemon = start(run)
    for number in range(5):
        daemon.client.create("late", {"n": f"late {number}", **SCHEMA}, "late")
    daemon.kill()
    path = run.data / "login.keychain"
    frames = [frame for frame in Log(path.read_bytes()).frames if frame["id"][0] == ITEM]
    with open(path, "r+b") as file:
        file.seek(frames[-3]["place"] + 8)
        file.write(b"damaged")
    shutil.rmtree(run.template)
    shutil.move(run.data, run.template)


def case(run, action, number):
    """Whether the rename of this number was reached, and what is wrong then."""
    run.reset()
    daemon = start(run)
    before = contents(daemon.client, LOGIN)
    run.faults.arm(run.data, "rename", number, "fail")
    try:
        action(daemon.client)
        is_refused = False
    except Refused:
        is_refused = True
    is_reached = run.faults.disarm() > 0
    if not is_reached or not is_refused:
        daemon.kill()
        return is_reached, []
    daemon.client.unlock(LOGIN)
    problems = [] if contents(daemon.client, LOGIN) == before else ["at once"]
    daemon.client.create("new", {"n": "new", **SCHEMA}, "new")
    after = {**before, "new": "new"}
    daemon.stop()
    daemon = start(run)
    if contents(daemon.client, LOGIN) != after:
        problems.append("after a restart")
    daemon.kill()
    return True, problems


def main():
    run = Run(*sys.argv[1:])
    run.answers.write_text("agree p\n")
    failures, cases = [], 0
    try:
        leave_a_damaged_file(run)
        for action in [salvage, restore_backup]:
            for number in itertools.count(1):
                is_reached, problems = case(run, action, number)
                if not is_reached:
                    break
                cases += 1
                failures += [f"FAILED {action.__name__}, rename {number}: {problem}" for problem in problems]
    finally:
        run.end()
    print(*failures, f"{cases} cases, {len(failures)} failures", sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
