# shellcheck shell=bash disable=SC2154
# Thousands of Diffie-Hellman sessions with python3-secretstorage over one connection; in one of 256 the shared secret
# has a leading zero.

own_home
own_bus
check "keychaind starts" start_daemon
count=${HANDSHAKES:-2000}
said=$(env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/handshakes.py" "$count" 2>&1) || true
check_match "both sides derive the same key each time" "$said" "^handshakes=$count wrong=0 "
check_match "some shared secrets had a leading zero" "$said" ' short=[1-9][0-9]*$'
check "keychaind still runs" owns_name "$daemon_pid"
