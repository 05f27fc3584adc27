# shellcheck shell=bash disable=SC2154,SC1091
# The file of `login` is gone at the start, as after a tool that cleans up, or hidden behind a flood of files.

own_home
own_bus
start_daemon
scripts=$project/Tests/Attacks
source "$scripts/support.sh"

files=$XDG_DATA_HOME/keychaind
store() { secret-tool store --label="$1" number "$1" <<<"secret $1" 2>/dev/null; }
problem() {
    gdbus call --session --timeout 120 --dest org.freedesktop.secrets \
        --object-path /org/freedesktop/secrets/collection/login \
        --method org.freedesktop.DBus.Properties.Get org.keychaind.Collection1 Problem
}

check "a secret is stored" store 1
stop_daemon
for what in file "file and the state"; do
    mkdir "$work/away"
    mv "$files/login.keychain" "$work/away"
    if [[ $what != file ]]; then
        mv "$files/state" "$work/away"
        # As after a restore: by a past file a lost keychain is noticed without the state.
        cp "$work/away/login.keychain" "$files/login.keychain-past-1796000000"
    fi
    # With the password of `login` at hand, as at a login.
    start_daemon
    check_match "without the $what, the keychain says what is wrong" "$(problem)" "login.keychain is missing"
    if store 2; then fail "an empty keychain takes its place"; else pass "no empty keychain takes its place"; fi
    if [[ -e $files/login.keychain ]]; then fail "there is a new file"; else pass "there is no new file"; fi
    stop_daemon
    mv "$work/away/login.keychain" "$files"
    rm -r "$work/away"
    start_daemon
    check_equal "the file that is put back is served" "$(secret-tool lookup number 1)" "secret 1"
    check "and changed" store 3
    stop_daemon
done

for ((number = 0; number < 400; number++)); do echo x >"$files/a$number.keychain"; done
start_daemon
check_equal "a flood of files does not hide the keychain" "$(secret-tool lookup number 1)" "secret 1"
stop_daemon
