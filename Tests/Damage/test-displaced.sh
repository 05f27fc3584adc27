# shellcheck shell=bash disable=SC2154,SC1091
# Another program replaces or removes the file of an open keychain, as one that synchronises folders does. What is
# acknowledged afterwards is there after a SIGKILL.

own_home
own_bus
scripts=$project/Tests/Attacks
source "$scripts/support.sh"
start_daemon

files=$XDG_DATA_HOME/keychaind
store() { secret-tool store --label="$1" number "$1" <<<"secret $1" 2>/dev/null; }
lookup() { secret-tool lookup number "$1"; }
problem() {
    gdbus call --session --timeout 120 --dest org.freedesktop.secrets \
        --object-path /org/freedesktop/secrets/collection/login \
        --method org.freedesktop.DBus.Properties.Get org.keychaind.Collection1 Problem
}
# put_back FOLDER: renames its files over those of the keychain, one by one.
put_back() {
    local file
    for file in "$1"/login.keychain*; do
        cp "$file" "$work/synced"
        mv "$work/synced" "$files/${file##*/}"
    done
}
kill_daemon() {
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
}

check "a secret is stored" store 1
cp -r "$files" "$work/older"
check "another one is stored" store 2
put_back "$work/older"
if store 3; then fail "a change of the replaced file is acknowledged"; else pass "a change of the replaced file is refused"; fi
check "the next change goes into the file that is there" eventually store 4
check_equal "what that file has is served" "$(lookup 1)" "secret 1"
kill_daemon
start_daemon
check_equal "what was acknowledged survives a kill" "$(lookup 4)" "secret 4"

rm "$files/login.keychain"
if store 5; then fail "a change of the removed file is acknowledged"; else pass "a change of the removed file is refused"; fi
missing() { [[ $(problem) == *"login.keychain is missing"* ]]; }
check "the keychain says what is wrong" eventually missing
if store 6; then fail "an empty keychain takes its place"; else pass "no empty keychain takes its place"; fi
kill_daemon

# It writes into the files, as a backup does that is copied over them.
rm -rf "$files"
start_daemon
runs() { kill -0 "$daemon_pid"; }
check "a secret is stored in a new keychain" store 7
cp -r "$files" "$work/copy"
check "another one is stored" store 8
check "and a third one" store 9
touch "$files"/*
check "touched files take changes" store 10
cp "$work/copy"/login.keychain* "$files"
if store 11; then fail "a change is mixed with a copied file"; else pass "a change of the copied file is refused"; fi
check "the next change goes into the copied file" eventually store 12
check_equal "what the copy has is served" "$(lookup 7)" "secret 7"
truncate --size=0 "$files/login.keychain"
if store 13; then fail "a change of the emptied file is acknowledged"; else pass "a change of the emptied file is refused"; fi
damaged() { [[ $(problem) == *"the file has no header"* ]]; }
check "the keychain says that it was emptied" eventually damaged
check "the service has not crashed" runs
kill_daemon

# While it does not run: a keychain that was changed elsewhere, and another one.
rm -rf "$files"
start_daemon
check "a secret is stored in another new keychain" store 14
stop_daemon
cp -r "$files" "$work/elsewhere"
start_daemon
check "another one is stored here" store 15
stop_daemon
mv "$files" "$work/here"
cp -r "$work/elsewhere" "$files"
rm "$files/state"
start_daemon
check "two are stored elsewhere" eval "store 16 && store 17"
stop_daemon
mv "$files" "$work/changed-elsewhere"
cp -r "$work/here" "$files"
cp "$work/changed-elsewhere/login.keychain" "$files"
start_daemon
check_equal "what was stored elsewhere is served" "$(lookup 17)" "secret 17"
diverged() { [[ $(problem) == *"changes that were made here are missing"* ]]; }
check "the keychain says that changes are missing" eventually diverged
stop_daemon
mv "$files" "$work/diverged"
start_daemon
check "a secret is stored in a keychain of somebody else" store 18
stop_daemon
mv "$files" "$work/other"
cp -r "$work/here" "$files"
cp "$work/other/login.keychain" "$files"
start_daemon
other() { [[ $(problem) == *"another keychain in its place"* ]]; }
check "the keychain says that it is another one" eventually other
stop_daemon
