"""libsecret_locked.py store|search: 500 items with one attribute in common, and a search for them that unlocks them.

The search is libsecret's asynchronous one, as programs with a window make it. The items count as they are when it ends.
"""

import sys

import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret

NUMBERS = range(500)
FLAGS = Secret.SearchFlags.ALL | Secret.SearchFlags.UNLOCK | Secret.SearchFlags.LOAD_SECRETS


def attributes(number):
    return {"group": "locked", "number": str(number), "user": "anna %d" % number}


def store():
    for number in NUMBERS:
        label, secret = "Label %d" % number, "secret %d" % number
        Secret.password_store_sync(None, attributes(number), None, label, secret, None)


def search():
    loop, found = GLib.MainLoop(), []

    def take(service, result):
        loop.quit()
        for item in service.search_finish(result):
            secret = item.get_secret()
            found.append((item.get_label(), item.get_attributes(), secret and secret.get_text()))

    service = Secret.Service.get_sync(Secret.ServiceFlags.NONE, None)
    service.search(None, {"group": "locked"}, FLAGS, None, take)
    loop.run()
    expected = [("Label %d" % number, attributes(number), "secret %d" % number) for number in NUMBERS]
    whole = [item for item in found if item in expected]
    print("%d of %d" % (len(whole), len(found)))


store() if sys.argv[1] == "store" else search()
