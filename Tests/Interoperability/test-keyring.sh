# shellcheck shell=bash disable=SC2154
# Python's keyring with its two backends for the Secret Service.

own_home
own_bus
check "keychaind starts" start_daemon
check "keyring stores, finds and deletes" env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/keyring_backend.py"
