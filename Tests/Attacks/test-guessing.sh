# shellcheck shell=bash disable=SC2154,SC1091
# The password of `login`, guessed by starting keychaind again and again, and killing it.

own_home
own_bus
source "$scripts/support.sh"
files=$XDG_DATA_HOME/keychaind

source "$scripts/guessing.sh"

guess_by_descriptor() {
    try_start "$KEYCHAIND" --unlock-fd 9 9< <(printf 'a guess')
    kill_daemon
}
guess_by_credential() {
    mkdir -p "$work/credentials"
    printf 'a guess' >"$work/credentials/keychaind.password"
    try_start env CREDENTIALS_DIRECTORY="$work/credentials" "$KEYCHAIND"
    kill_daemon
}

start_with p
check "the owner's first password makes the keychain" is_open
kill_daemon
cp -r "$files" "$work/before"

tried=0
check "a guess at a start is soon refused, although each start was killed" guess_until_refused guess_by_start
check "three are tried without a delay" test "$tried" -ge 3
check "from a descriptor, too" guess_until_refused guess_by_descriptor
check "and from a credential" guess_until_refused guess_by_credential
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
/usr/bin/python3 -c 'import struct, sys
with open(sys.argv[1], "wb") as control:
    control.write(bytes(544) + struct.pack("=q", -365 * 86400) + bytes(4096 - 552))' "$work/faults"
guess_with_another_clock() {
    try_start env KEYCHAIND_FAULTS="$work/faults" LD_PRELOAD="$work/faults.so" "$KEYCHAIND" --unlock \
        < <(printf 'a guess')
    kill_daemon
}
check "a clock that is set back a year changes nothing" guess_until_refused guess_with_another_clock

# STARTS of them leave nothing behind: what is refused is not recorded.
size_of_files() { find "$files" -type f -not -name lock -printf '%s\n' | awk '{ sum += $1 } END { print sum }'; }
size=$(size_of_files)
most=$((size + 65536))
for ((number = 0; number < ${STARTS:-10}; number++)); do guess_by_start; done
check "${STARTS:-10} further starts take no space" test "$(size_of_files)" -le "$most"

start_with "a guess"
tried=$(/usr/bin/python3 "$scripts/guessing.py" program 12)
check "a program's guesses on the bus count with them" test "$tried" -lt 3
prompter "password p"
attack guessing person
stop_prompter
stop_daemon

# The delays are those of this keychain's password, and no more than that is changed.
rm -r "$files"
cp -r "$work/before" "$files"
start_with p
check "without guesses, the same password opens it" is_open
stop_daemon
