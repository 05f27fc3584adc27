"""Two applications of the real Flatpak and a program outside, each with an item."""

from sandboxes import Program
from secrets_client import *
import subprocess


class Flatpak(Program):
    def __init__(self, application):
        self.process = subprocess.Popen(
            ["flatpak", "--user", "run", application],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip


host = Client()
proxied, open_ = Flatpak("org.example.Proxied"), Flatpak("org.example.Open")
SERVICE = {"service": "flatpaks"}
of_host = host.create("host", SERVICE, "host")[0]
of_proxied = proxied.run(f"c.create('proxied', {SERVICE!r}, 'proxied')")[0]
of_open = open_.run(f"c.create('open', {SERVICE!r}, 'open')")[0]
print("three items:", len({of_host, of_proxied, of_open}) == 3)
print("the host sees all:", set(host.search(SERVICE)) == {of_host, of_proxied, of_open})
for name, program, own, others in (
    ("behind the proxy", proxied, of_proxied, (of_host, of_open)),
    ("with the whole bus", open_, of_open, (of_host, of_proxied)),
):
    print(f"{name} it sees its own:", program.run("c.search({})") == [own])
    for other in others:
        print(f"{name} it reads {other[-1]}:", program.run(f"c.read({other!r})")[0] == "refused")
    identity = program.run(
        "unwrap_msg(c.connection.send_and_get_reply("
        "Properties(DBusAddress(ROOT, BUS_NAME, 'org.keychaind.Status1')).get('Identity')))[0][1]"
    )
    print(f"{name} it is known:", identity == "flatpak:org.example." + ("Open" if program is open_ else "Proxied"))
rows = host.call(ROOT + "/sandboxes", "org.keychaind.Sandboxes1", "List")[0]
print("the list:", sorted(row[:2] + row[3:] for row in rows) == [
    ("flatpak:org.example.Open", "limited", 1), ("flatpak:org.example.Proxied", "limited", 1)])
proxied.close()
open_.close()
