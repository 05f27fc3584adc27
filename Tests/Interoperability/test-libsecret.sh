# shellcheck shell=bash disable=SC2154
# libsecret with its objects and caches; a GLib critical, which it gives for what it did not expect, ends it.

own_home
own_bus
check "keychaind starts" start_daemon
check "objects, caches and passwords" env G_DEBUG=fatal-criticals /usr/bin/python3 "$scripts/libsecret_client.py"
check "keychaind goes on" owns_name "$daemon_pid"
