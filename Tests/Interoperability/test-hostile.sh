# shellcheck shell=bash disable=SC2154
# Programs that mean harm, or do not know better: random calls, too many sessions, many connections.

own_home
own_bus
check "keychaind starts" start_daemon
check "store" secret-tool store --label=label name value <<<precious
check "random calls while it is unlocked" /usr/bin/python3 "$scripts/random_calls.py" 1 3000
check_equal "the secret is still there" "$(secret-tool lookup name value)" precious
check "sessions and connections" /usr/bin/python3 "$scripts/connections.py" 1000

# Without what bash says of a job that was killed.
{
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" || true
} 2>/dev/null
"$KEYCHAIND" 2>"$work/keychaind.log" &
daemon_pid=$!
check "keychaind starts locked" eventually owns_name "$daemon_pid"
check "random calls while it is locked" /usr/bin/python3 "$scripts/random_calls.py" 2 3000
check "it is the same process" owns_name "$daemon_pid"
kill -TERM "$daemon_pid"
wait "$daemon_pid" || true
check "keychaind starts again" start_daemon
check_equal "nothing is lost" "$(secret-tool lookup name value)" precious
