# shellcheck shell=bash disable=SC2154,SC1091
# Rules, and connections that a process leaves to another.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
item=$(/usr/bin/python3 - "$scripts" <<'END'
import sys

sys.path.insert(0, sys.argv[1])
from secrets_client import *

client = Client()
print(client.create("Bank", {**SCHEMA, "service": "bank"}, "secret")[0])
# Of a program that cannot be seen, it may be this one.
client.run(client.call("/org/keychaind/Rules", "org.keychaind.Rules1", "Add", "as", ["never program:/nonexistent *"])[0])
END
)
attack rule_callers "$item"
