# shellcheck shell=bash disable=SC2154
# Many sessions and connections of one client after another.

own_home
own_bus
check "keychaind starts" start_daemon
check "store" secret-tool store --label=label name value <<<precious
check "many sessions and connections are handled" env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/connections.py" 300
check_equal "the secret is unchanged" "$(secret-tool lookup name value)" precious
check "keychaind is still the same process" owns_name "$daemon_pid"
