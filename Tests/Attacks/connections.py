"""connections.py LOG: uses up dialogs and the collection in memory through many connections, and looks whether another
program, which is another script, still has its turn. LOG is the prompter's, which answers nothing.
"""

import json
import os
import subprocess
import sys

from secrets_client import *

CONNECTIONS = 30
OTHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "other_program.py")


def questions():
    with open(sys.argv[1]) as log:
        return [json.loads(line)["message"] for line in log if line.endswith("\n")]


def label(number):
    """Dialogs show it in quotation marks."""
    return f"of connection {number}"


# Dialogs
asking = {}
for number in range(CONNECTIONS):
    client = Client()
    prompt = client.ask_for_collection(label(number))
    client.call(prompt, SECRET + "Prompt", "Prompt", "s", "")
    asking[label(number)] = client
eventually("the first dialog", lambda: len(questions()) == 1)
other = subprocess.Popen([sys.executable, OTHER, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print("the other program asks:", other.stdout.readline() == b"asked\n")

# The program gives up each dialog of its own as soon as it is shown.
order = []
while len(order) < CONNECTIONS + 1:
    shown = eventually("a dialog", lambda: questions()[len(order):])[0]
    name = next((name for name in asking if f"“{name}”" in shown), "other")
    order.append(name)
    if name == "other":
        other.stdin.close()
    else:
        asking[name].close()
print("the other program's dialog comes after one that waited:", order.index("other") <= 2)
print("all dialogs come:", len(set(order)) == CONNECTIONS + 1)

# The collection in memory
items, stored, size = [], 0, 8 << 20
while size >= 4096:
    client = Client()
    try:
        items.append(client.create("large", {"n": str(len(items))}, b"x" * size, collection=SESSION)[0])
        stored += size
    except Refused:
        size //= 2
    client.close()
print("the program stores much:", stored > 16 << 20)
print("another program can store:", subprocess.run([sys.executable, OTHER, "store"]).returncode == 0)
client = Client()
refusal = attempt(client.create, "more", {"n": "more"}, b"x" * (1 << 20), collection=SESSION)
print("the program can store no more:", isinstance(refusal, Refused) and "LimitsExceeded" in refusal.args[0])
for item in items:
    client.call(item, SECRET + "Item", "Delete")
print("room is given back:", client.create("again", {"n": "again"}, b"x" * (8 << 20), collection=SESSION)[1] == "/")
