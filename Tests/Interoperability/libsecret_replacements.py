"""Six programs read large secrets by libsecret while two others replace them: none may miss one.

Each read must give a secret that was the last one at some time of the read. A secret that a search leaves out is "not
found" for a program, which would make a new key.
"""

import multiprocessing
import subprocess
import sys

SIZES = [5 << 10, 64 << 10, 300 << 10] * 2
READS = 80
processes = multiprocessing.get_context("fork")
# Of each item, the number of the last secret that is stored, and of the last one that is being stored.
stored, begun = (processes.RawArray("Q", len(SIZES)) for _ in range(2))


def attributes(number):
    return {"number": str(number), "group": "replaced"}


def store(number, count):
    begun[number] = count
    secret = ("%08d" % count) * (SIZES[number] // 8)
    Secret.password_store_sync(None, attributes(number), None, "Replaced", secret, None)
    stored[number] = count


def replace(numbers, ended):
    count = 1
    while not ended.is_set():
        count += 1
        for number in numbers:
            store(number, count)


def check(number, earliest, secret):
    if secret is None:
        return "missing"
    if secret != secret[:8] * (SIZES[number] // 8):
        return "torn, of %d bytes" % len(secret)
    if not earliest <= int(secret[:8]) <= begun[number]:
        return "%s, but %d was stored" % (secret[:8], earliest)


def look_up(number):
    return Secret.password_lookup_sync(None, attributes(number), None)


def run(number):
    pairs = [word for pair in attributes(number).items() for word in pair]
    result = subprocess.run(["secret-tool", "lookup"] + pairs, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def load(number):
    service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
    item = service.search_sync(None, attributes(number), Secret.SearchFlags.NONE, None)[0]
    item.load_secret_sync(None)
    return item.get_secret().get_text()


def read(one):
    failures = []
    for count in range(READS):
        number = count % len(SIZES)
        earliest = stored[number]
        try:
            failure = check(number, earliest, one(number))
        except GLib.Error as error:
            failure = error.message
        if failure:
            failures.append("%s, %d bytes: %s" % (one.__name__, SIZES[number], failure))
    return failures


def search():
    failures = []
    service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
    flags = Secret.SearchFlags.ALL | Secret.SearchFlags.LOAD_SECRETS
    for _ in range(READS):
        earliest = list(stored)
        found = service.search_sync(None, {"group": "replaced"}, flags, None)
        secrets = {int(item.get_attributes()["number"]): item.get_secret() for item in found}
        for number, size in enumerate(SIZES):
            secret = secrets.get(number)
            failure = check(number, earliest[number], secret and secret.get_text())
            if failure:
                failures.append("search, %d bytes: %s" % (size, failure))
    return failures


def first():
    for number in range(len(SIZES)):
        store(number, 1)


def run_in(result, target, *arguments):
    """Imports the library in a process of its own: it has threads, which a fork would leave behind."""
    global GLib, Secret
    import gi

    gi.require_version("Secret", "1")
    from gi.repository import GLib, Secret

    result.send(target(*arguments))


def start(*call):
    """Returns what receives the result of a function in another process."""
    receiver, sender = processes.Pipe(duplex=False)
    processes.Process(target=run_in, args=(sender, *call)).start()
    sender.close()
    return receiver


def main():
    start(first).recv()
    ended = processes.Event()
    half = len(SIZES) // 2
    writers = [start(replace, numbers, ended) for numbers in (range(half), range(half, 2 * half))]
    calls = [(read, look_up), (read, look_up), (read, run), (read, load), (search,), (search,)]
    failures = [failure for reader in [start(*call) for call in calls] for failure in reader.recv()]
    ended.set()
    for writer in writers:
        writer.recv()
    if failures:
        sys.exit("%d reads failed, such as: %s" % (len(failures), failures[:3]))
    print("%d secrets were stored" % sum(stored))


main()
