"""other_program.py ask | store: asks a person for one thing and waits, or stores an item of 8 MiB in memory."""

import sys

from secrets_client import *

client = Client()
if sys.argv[1] == "ask":
    # The answer comes once keychaind knows the program, so that its question takes its place at once.
    client.create("known", {"of": "another program"}, b"x", collection=SESSION)
    prompt = client.ask_for_collection("of another program")
    client.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
    print("asked", flush=True)
    sys.stdin.read()
else:
    client.create("one", {"of": "another program"}, b"x" * (8 << 20), collection=SESSION)
