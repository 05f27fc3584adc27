"""What a program does with Python's keyring and its Secret Service backend."""

import keyring
from keyring.backends import SecretService
from keyring.errors import PasswordDeleteError

# Which backends there are besides depends on what is installed; this one must hold itself for usable.
assert SecretService.Keyring.priority >= 5
keyring.set_keyring(SecretService.Keyring())

for password in ["first", "pä\nß\0", "", "x" * 100_000]:
    keyring.set_password("service", "user", password)
    assert keyring.get_password("service", "user") == password
keyring.set_password("service", "other", "another")
assert keyring.get_credential("service", "other").password == "another"
assert keyring.get_credential("service", None).username in ("user", "other")

keyring.delete_password("service", "user")
assert keyring.get_password("service", "user") is None
assert keyring.get_password("service", "other") == "another"
try:
    keyring.delete_password("service", "user")
    raise AssertionError("a password can be deleted twice")
except PasswordDeleteError:
    pass
