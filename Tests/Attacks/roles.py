"""A program in a sandbox, with the whole bus, takes the names under which programs serve keychaind while they are free.

Beside it, one outside does the same, and is called.
"""

import os
import sys

from sandboxes import *
from secrets_client import *

CONFIGURATION = os.path.expanduser("~/.config/keychaind/config.toml")
NOTIFICATIONS = "org.freedesktop.Notifications"
FILES = "org.freedesktop.FileManager1"
# With what each is asked when somebody has to type a password.
ASKED = {
    "org.gnome.keyring.SystemPrompter": "BeginPrompting",
    "org.kde.secretprompter": "UnlockCollectionPrompt",
    "org.freedesktop.systemd1": "Get",
}


def check(name, held):
    print(f"{name}: {'held' if held else 'GOT IN'}", flush=True)


host = Program()
chat = Sandbox("org.example.Chat")
host.run("c.session")

# The desktop portal.
secret = host.run("portal_secret('org.example.Bank')")
print("control, a portal outside gets an application's secret:", secret[0] == 0 and len(secret[1]) == 64)
check("a portal in a sandbox", chat.run("portal_secret('org.example.Bank')") == (2, b""))

# Prompters, and the user manager, whose environment says where windows open.
for name in (*ASKED, NOTIFICATIONS):
    assert chat.run(f"take(c, {name!r})")
host.run("c.call(ROOT, SECRET + 'Service', 'Lock', 'ao', [LOGIN])")
print("nobody in a sandbox is asked for the password:", host.run("c.unlock(LOGIN)") == [])
check("a prompter in a sandbox", chat.run("heard_calls(c)") == [])

# Notifications, and the file manager that their button "Show the File" calls (one outside is, in NoticeTests).
with open(CONFIGURATION, "w") as file:
    file.write("nonsense\n")
eventually("the mistake", lambda: "has a mistake" in open(sys.argv[1]).read())
chat.run(f"release(c, {NOTIFICATIONS!r})")
outside = Program()
assert outside.run(f"take(c, {NOTIFICATIONS!r})") and chat.run(f"take(c, {FILES!r})")
print("control, notifications outside are shown:", outside.run("press_buttons(c)") is None)
host.run("c.call(ROOT, SECRET + 'Service', 'Lock', 'ao', [LOGIN])")
check("notifications or a file manager in a sandbox", chat.run("heard_calls(c)") == [])
outside.close()
chat.close()

for name, call in ASKED.items():
    outside = Program()
    assert outside.run(f"take(c, {name!r})")
    host.start("c.unlock(LOGIN)")
    print(f"control, {name} outside is called:", outside.run("wait_for_call(c)") == call)
    outside.close()
    host.answer()
host.close()
