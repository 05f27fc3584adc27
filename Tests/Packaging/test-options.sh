# shellcheck shell=bash disable=SC2154
# The command line: exit statuses and messages.

own_home
check_equal "--help" "$(status_of "$KEYCHAIND" --help)" 0
check_equal "--version" "$(status_of "$KEYCHAIND" --version)" 0
check_match "--version prints name and version" "$(<"$work/said")" '^keychaind [0-9]+\.[0-9]+\.[0-9]+'
check_equal "an unknown option is a usage error" "$(status_of "$KEYCHAIND" --no-such-option)" 64
check_equal "an argument is a usage error" "$(status_of "$KEYCHAIND" argument)" 64
check_equal "--data-dir without a folder is a usage error" "$(status_of "$KEYCHAIND" --data-dir)" 64
check_equal "a missing bus has an exit status of its own" "$(status_of env DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent "$KEYCHAIND")" 69

own_bus
check "keychaind starts" start_daemon
first=$daemon_pid
check "secret-tool store" secret-tool store --label=l name value <<<secret
check_equal "secret-tool lookup" "$(secret-tool lookup name value)" secret
check_equal "the data folder is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind")" 700
check_equal "every file in the data folder is private" "$(find "$XDG_DATA_HOME/keychaind" -type f -perm /077)" ''

check_equal "a taken bus name has an exit status of its own" "$(status_of "$KEYCHAIND" --data-dir "$work/other")" 69
check_match "the message names the owning process" "$(<"$work/said")" "$first"

kill -TERM "$first"
status=0
wait "$first" || status=$?
check_equal "SIGTERM ends it with status 0" "$status" 0

check "keychaind starts again" start_daemon
kill -INT "$daemon_pid"
status=0
wait "$daemon_pid" || status=$?
check_equal "SIGINT ends it with status 0" "$status" 0

# Two buses, one data folder: the second daemon must not use it.
check "keychaind starts once more" start_daemon
# Answered once it has locked the folder; it has its name before.
check_equal "it has the secret" "$(secret-tool lookup name value)" secret
first_address=$DBUS_SESSION_BUS_ADDRESS
mkdir "$work/second"
sed "s|unix:path=.*</l|unix:path=$work/second/bus</l|" "$work/bus.conf" >"$work/second/bus.conf"
second_bus=$(dbus-daemon --config-file="$work/second/bus.conf" --fork --print-pid=1)
check_equal "a data folder in use has an exit status of its own" \
    "$(status_of env DBUS_SESSION_BUS_ADDRESS="unix:path=$work/second/bus" "$KEYCHAIND")" 75
kill -TERM "$second_bus"
export DBUS_SESSION_BUS_ADDRESS=$first_address
check_equal "the first daemon keeps serving" "$(secret-tool lookup name value)" secret
