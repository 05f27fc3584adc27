# shellcheck shell=bash disable=SC2154
# libsecret and secret-tool find and unlock 500 items of a keychain that was not unlocked since keychaind started: each
# has its label, its attributes and its secret.

locked() { LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/libsecret_locked.py" "$1"; }
# start_locked: starts keychaind without a password.
start_locked() {
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || true
    LD_PRELOAD="$clock" "$KEYCHAIND" --prompters gcr 2>"$work/keychaind.log" &
    daemon_pid=$!
    eventually owns_name "$daemon_pid"
}

own_home
# As on the bus of a session: libsecret asks for the properties of all items at once, and wants two kinds of signals of
# each. With the limits of a bus that names none, it would not hear of 245.
# shellcheck disable=SC2034  # for bus_configuration
bus_limits='<limit name="max_replies_per_connection">50000</limit>
    <limit name="max_match_rules_per_connection">50000</limit>'
own_bus
echo "password p" >"$work/answers"
/usr/bin/python3 "$project/Tests/Attacks/prompter.py" "$work/answers" "$work/questions" >"$work/prompter.log" 2>&1 &
prompter_pid=$!
trap 'kill "$prompter_pid" 2>/dev/null || true; stop_everything' EXIT
eventually ask_bus GetNameOwner string:org.gnome.keyring.SystemPrompter
check "keychaind starts" start_daemon
check "500 items are stored" locked store

start_locked
check_equal "libsecret's search returns whole items" "$(locked search)" "500 of 500"
start_locked
secret-tool search --all --unlock group locked >"$work/found" 2>&1
for part in 'label = Label' 'secret = secret' 'attribute.user = anna'; do
    check_equal "secret-tool prints ${part%% *} 500 times" "$(grep -cE "^$part [0-9]+$" "$work/found")" 500
done
check_equal "the person was asked once each time" "$(wc -l <"$work/questions")" 2
