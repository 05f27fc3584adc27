# shellcheck shell=bash disable=SC2154
# The command line: exit statuses, and what is said to the person who has to act.

own_home
check_equal "--help" "$(status_of "$KEYCHAIND" --help)" 0
check_equal "--version" "$(status_of "$KEYCHAIND" --version)" 0
check_match "--version says it" "$(<"$work/said")" '^keychaind [0-9]+\.[0-9]+\.[0-9]+'
check_equal "an unknown option is wrong usage" "$(status_of "$KEYCHAIND" --no-such-option)" 64
check_equal "an argument is wrong usage" "$(status_of "$KEYCHAIND" argument)" 64
check_equal "--data-dir wants a folder" "$(status_of "$KEYCHAIND" --data-dir)" 64
check_equal "no bus" "$(status_of env DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent "$KEYCHAIND")" 69

own_bus
check "keychaind starts" start_daemon
first=$daemon_pid
check_equal "the data folder is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind")" 700
check_equal "so is every file in it" "$(find "$XDG_DATA_HOME/keychaind" -type f -perm /077)" ''
check "secret-tool store" secret-tool store --label=l name value <<<secret
check_equal "secret-tool lookup" "$(secret-tool lookup name value)" secret

check_equal "the name is taken" "$(status_of "$KEYCHAIND" --data-dir "$work/other")" 69
check_match "it says by which process" "$(<"$work/said")" "$first"

kill -TERM "$first"
status=0
wait "$first" || status=$?
check_equal "SIGTERM is a clean end" "$status" 0

check "keychaind starts again" start_daemon
kill -INT "$daemon_pid"
status=0
wait "$daemon_pid" || status=$?
check_equal "SIGINT is a clean end" "$status" 0

# Two buses, one data folder: the second daemon must not get at it.
check "keychaind starts once more" start_daemon
first_address=$DBUS_SESSION_BUS_ADDRESS
mkdir "$work/second"
sed "s|unix:path=.*</l|unix:path=$work/second/bus</l|" "$work/bus.conf" >"$work/second/bus.conf"
second_bus=$(dbus-daemon --config-file="$work/second/bus.conf" --fork --print-pid=1)
check_equal "the data folder is in use" \
    "$(status_of env DBUS_SESSION_BUS_ADDRESS="unix:path=$work/second/bus" "$KEYCHAIND")" 75
kill -TERM "$second_bus"
export DBUS_SESSION_BUS_ADDRESS=$first_address
check_equal "the first one goes on" "$(secret-tool lookup name value)" secret
