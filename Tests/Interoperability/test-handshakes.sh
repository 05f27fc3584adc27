# shellcheck shell=bash disable=SC2154
# Sessions by Diffie-Hellman with python3-secretstorage, ten thousand over one connection.

own_home
own_bus
check "keychaind starts" start_daemon
said=$(/usr/bin/python3 "$scripts/handshakes.py" 10000 2>&1) || true
check_match "every secret is the same on both sides" "$said" '^handshakes=10000 wrong=0 '
check_match "some shared secrets were short" "$said" ' short=[1-9][0-9]*$'
check "keychaind goes on" owns_name "$daemon_pid"
