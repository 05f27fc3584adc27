"""guessing.py program COUNT | person: tries passwords of `login` over the bus, as a program, or as its owner does.

`program` prints how many of its guesses were tried; `person` unlocks by a dialog.
"""

import sys

from secrets_client import *

client = Client()
if sys.argv[1] == "program":
    tried = 0
    for _ in range(int(sys.argv[2])):
        guess = client.secret("a guess")
        answer = attempt(client.call, ROOT, MASTER_PASSWORDS, "UnlockWithMasterPassword", "o(oayays)", LOGIN, guess)
        tried += "password was invalid" in repr(answer)
    print(tried)
else:
    print("the person's password opens it:", client.unlock(LOGIN) == [LOGIN])
