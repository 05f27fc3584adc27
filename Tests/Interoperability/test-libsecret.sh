# shellcheck shell=bash disable=SC2154
# libsecret with its objects and caches; a GLib critical, its reaction to an unexpected answer, ends the test.

own_home
own_bus
check "keychaind starts" start_daemon
check "libsecret's objects, caches and passwords work" env G_DEBUG=fatal-criticals LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/libsecret_client.py"
check "keychaind still runs" owns_name "$daemon_pid"
