"""domain_calls.py delete: has the keychain `login` deleted, if a yes is enough for that."""

from secrets_client import *

client = Client()
prompt = attempt(client.call, LOGIN, SECRET + "Collection", "Delete")
if not isinstance(prompt, Refused) and prompt[0] != "/":
    print(client.run(prompt[0]))
