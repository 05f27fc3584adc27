"""Uses Python's keyring with its two backends for the Secret Service."""

import keyring
from keyring.backends import SecretService, libsecret
from keyring.errors import PasswordDeleteError

# Other backends depend on the installed packages; this one must consider itself usable.
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
    raise AssertionError("a deleted password was deleted again")
except PasswordDeleteError:
    pass

# The other backend adds a schema to the same attributes: it finds that item and changes it, and both find it then.
both = [libsecret.Keyring(), SecretService.Keyring()]
assert [reader.get_password("service", "other") for reader in both] == ["another"] * 2
for writer in both:
    writer.set_password("service", "other", f"of {writer.name}")
    assert [reader.get_password("service", "other") for reader in both] == [f"of {writer.name}"] * 2
