# shellcheck shell=bash disable=SC2154
# Faulty or hostile clients: random calls, too many sessions, many connections.

own_home
own_bus
check "keychaind starts" start_daemon
check "store" secret-tool store --label=label name value <<<precious
check "random calls on an unlocked keychain are answered" env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/random_calls.py" "${SEED:-1}" 3000
check_equal "the secret is unchanged" "$(secret-tool lookup name value)" precious
check "many sessions and connections are handled" env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/connections.py" 1000

# Without bash's message about a killed job.
{
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" || true
} 2>/dev/null
"$KEYCHAIND" 2>"$work/keychaind.log" &
daemon_pid=$!
check "keychaind starts locked" eventually owns_name "$daemon_pid"
check "random calls on a locked keychain are answered" env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/random_calls.py" "$((${SEED:-1} + 1))" 3000
check "keychaind is still the same process" owns_name "$daemon_pid"
kill -TERM "$daemon_pid"
wait "$daemon_pid" || true
check "keychaind starts again" start_daemon
check_equal "the secret survives it all" "$(secret-tool lookup name value)" precious
