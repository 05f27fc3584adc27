# shellcheck shell=bash disable=SC2154
# Ten thousand Diffie-Hellman sessions with python3-secretstorage over one connection.

own_home
own_bus
check "keychaind starts" start_daemon
said=$(/usr/bin/python3 "$scripts/handshakes.py" 10000 2>&1) || true
check_match "both sides derive the same key each time" "$said" '^handshakes=10000 wrong=0 '
check_match "some shared secrets had a leading zero" "$said" ' short=[1-9][0-9]*$'
check "keychaind still runs" owns_name "$daemon_pid"
