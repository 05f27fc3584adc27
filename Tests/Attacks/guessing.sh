# shellcheck shell=bash disable=SC2154,SC2034
# Functions for guessing the password of `login` by starting keychaind; sourced after support.sh.

# try_start COMMAND...: starts keychaind, and waits until the password was tried, or was not: is_open and is_refused
# say which.
try_start() {
    "$@" <&0 2>"$work/keychaind.log" &
    daemon_pid=$!
    eventually owns_name "$daemon_pid"
    # The call waits until the password of the start was tried.
    state=$(gdbus call --session --dest org.freedesktop.secrets \
        --object-path /org/freedesktop/secrets/collection/login \
        --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Locked)
}
start_with() { try_start "$KEYCHAIND" --unlock < <(printf %s "$1"); }
is_open() { [[ $state == *false* ]]; }
kill_daemon() {
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
}
is_refused() { grep -q 'Too many passwords were wrong' "$work/keychaind.log"; }
# Guesses until one is not tried; a delay of five minutes is longer than a start takes.
guess_until_refused() {
    local number
    for ((number = 1; number <= 12; number++)); do
        "$@"
        is_refused && return 0
        tried=$number
    done
    return 1
}
guess_by_start() { start_with "a guess" && kill_daemon; }
