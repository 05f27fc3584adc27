"""model.py SEED SEQUENCES STEPS: random sequences of what programs, people and faults do, against a model.

Needs $KEYCHAIND, a bus with the prompter of the attacks, and a mock of logind on the system bus. After each step, every
program reads every item, and gets what the model says. Hypothesis shortens a sequence that fails. The invariants:

* nothing acknowledged is lost to a SIGKILL or a failing disk;
* what is refused is not applied, and what is unknown is settled before the next answer;
* nothing protected is released without its proof, and only to the program that asked;
* every prompt completes once;
* no program sees what another one was granted.
"""

import os
import sys
import time

from failing_disk import KeychainsOnAFailingDisk
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test


def main():
    number, sequences, steps = (int(argument) for argument in sys.argv[1:])
    begin = time.monotonic()
    options = settings(
        max_examples=sequences, stateful_step_count=steps, deadline=None, database=None, print_blob=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate] if os.environ.get("SHRINK") == "no" else [Phase.generate, Phase.shrink],
    )  # fmt: skip
    run_state_machine_as_test(seed(number)(KeychainsOnAFailingDisk), settings=options)
    print(f"{sequences} sequences of up to {steps} steps, seed {number}: {time.monotonic() - begin:.0f} s")


main()
