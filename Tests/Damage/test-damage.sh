# shellcheck shell=bash disable=SC2154,SC1091
# Damaged blocks, and a disk that fails to read for a moment: what is intact is read, and nothing of it is lost.

own_home
own_bus
scripts=$project/Tests/Attacks
source "$scripts/support.sh"

files=$XDG_DATA_HOME/keychaind
ctl() { "${KEYCHAIND%/*}/keychainctl" "$@"; }
problem() {
    gdbus call --session --timeout 120 --dest org.freedesktop.secrets \
        --object-path /org/freedesktop/secrets/collection/login \
        --method org.freedesktop.DBus.Properties.Get org.keychaind.Collection1 Problem
}
says() { [[ $(problem) == *"$1"* ]]; }
is_silent() { [[ $(problem) == "(<''>,)" ]]; }
# The items of which the secret can be read.
intact() {
    { ctl search --json --show-secrets all=yes 2>/dev/null || true; } |
        { grep -o "\"secret\": \"secret [0-9]*" || true; } | sort -u | wc -l
}
# The items that are found without a password.
found() {
    PYTHONPATH=$scripts /usr/bin/python3 -B -c 'from secrets_client import *
print(len(Client().search({"all": "yes"})))'
}
# items FILE BLOCK: the items that a block of 4096 bytes has a part of, counted from 0.
items() {
    PYTHONPATH=$project/Tests/Scripts /usr/bin/python3 -B - "$@" <<'PYTHON'
import sys
from slots import ITEM, read_log

start = int(sys.argv[2]) * 4096
frames = read_log(sys.argv[1]).records.values()
print(sum(frame["id"][0] == ITEM and frame["place"] < start + 4096 and frame["end"] > start for frame in frames))
PYTHON
}
blocks() { echo "$(($(stat --format %s "$1") / 4096))"; }
zero() { dd if=/dev/zero of="$1" bs=4096 seek="$2" count=1 conv=notrunc status=none; }

start_daemon
for number in {1..60}; do secret-tool store --label="$number" number "$number" all yes <<<"secret $number"; done
check_equal "all items are intact" "$(intact)" 60
check "an undamaged keychain passes the check, with its past states" ctl check
stop_daemon
cp -r "$files" "$work/whole"

# Each block in turn, up to the zeros at the end.
others='' most=0 worst=0
for ((block = 0; block < $(blocks "$work/whole/login.keychain"); block++)); do
    rm -rf "$files"
    cp -r "$work/whole" "$files"
    zero "$files/login.keychain" "$block"
    if cmp --silent "$files/login.keychain" "$work/whole/login.keychain"; then break; fi
    start_daemon
    left=$(intact)
    [[ $left -ge $((60 - $(items "$work/whole/login.keychain" "$block"))) ]] || others+=" $block"
    if [[ $((60 - left)) -gt $most ]]; then most=$((60 - left)) worst=$block; fi
    if is_silent; then fail "block $block: the damage is not told"; fi
    secret-tool store --label=new number new <<<new 2>/dev/null || fail "block $block: a change is refused"
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    start_daemon
    [[ $(secret-tool lookup number new) == new ]] || fail "block $block: the change is lost"
    stop_daemon
done
check_equal "no block costs items of another block" "$others" ''
check "some block costs items" test "$most" -gt 0

# The worst block again: it is told, checked and salvaged.
rm -rf "$files"
cp -r "$work/whole" "$files"
zero "$files/login.keychain" "$worst"
cp "$files/login.keychain" "$work/damaged"
start_daemon
check "the loss is counted, with the way back" says "keychainctl salvage"
status=0
ctl check --json login >"$work/report" 2>/dev/null || status=$?
check_equal "the check fails" "$status" 9
check_match "it counts the intact items" "$(<"$work/report")" "\"intact\": $((60 - most))"
prompter no
if ctl salvage login 2>/dev/null; then fail "nobody agreed to the salvage"; else pass "a refusal leaves the file"; fi
cmp --silent "$files/login.keychain" "$work/damaged" || fail "the file was changed without consent"
prompter yes
check "a person agrees to the salvage" ctl salvage login
stop_prompter
check_equal "the new keychain has all intact items" "$(intact)" "$((60 - most))"
check "it has no problem" is_silent
check "the damaged file is kept" cmp "$work/damaged" "$files"/login.keychain.unreadable-*[0-9]
check "the new keychain passes the check" ctl check login
check "it takes changes" secret-tool store --label=new number new <<<new
stop_daemon

# A disk that fails to read the file $BAD_FILE, at $BAD_PLACE or anywhere, while the file $FAILING exists.
cat >"$work/disk.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int fails(int file, off64_t place, size_t bytes) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0 || access(getenv("FAILING"), F_OK) != 0) return 0;
    path[size] = 0;
    const char *name = strrchr(path, '/');
    if (!name || strcmp(name + 1, getenv("BAD_FILE")) != 0) return 0;
    const char *bad = getenv("BAD_PLACE");
    if (bad && (atol(bad) < place || atol(bad) >= place + (off64_t)bytes)) return 0;
    errno = EIO;
    return 1;
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t read(int file, void *bytes, size_t size) { return fails(file, 0, size) ? -1 : NEXT(read)(file, bytes, size); }
ssize_t pread(int file, void *bytes, size_t size, off_t place) {
    return fails(file, place, size) ? -1 : NEXT(pread)(file, bytes, size, place);
}
ssize_t pread64(int file, void *bytes, size_t size, off64_t place) {
    return fails(file, place, size) ? -1 : NEXT(pread64)(file, bytes, size, place);
}
END
cc -shared -fPIC -o "$work/disk.so" "$work/disk.c" -ldl
before=$(sha256sum <"$files/state")
touch "$work/failing"
export FAILING=$work/failing
BAD_FILE=state LD_PRELOAD=$work/disk.so start_daemon
check "a failed read of state is told" says "state cannot be used for now"
check_equal "the keychain is there, and no password is tried" "$(found)" "$((60 - most))"
check_equal "the file is as it was" "$(sha256sum <"$files/state")" "$before"
check_equal "nothing is set aside" "$(find "$files" -name 'state.*')" ''
rm "$work/failing"
check "it is taken up when the disk works again" eventually is_silent
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
start_daemon
check "and intact after a kill" is_silent
check_equal "with all items" "$(intact)" "$((60 - most))"
stop_daemon

# A bad sector, and a disk that returns it after all.
rm -rf "$files"
cp -r "$work/whole" "$files"
touch "$FAILING"
BAD_FILE=login.keychain BAD_PLACE=$((worst * 4096 + 512)) LD_PRELOAD=$work/disk.so start_daemon
check "a bad sector is told" says "tried again"
if secret-tool store --label=new number new <<<new 2>/dev/null; then fail "a change is accepted"; fi
rm "$FAILING"
check "all is read when the disk returns it" eventually is_silent
check_equal "no item is missing" "$(found)" 60
stop_daemon
check "the file is as it was" cmp "$work/whole/login.keychain" "$files/login.keychain"
start_daemon
check_equal "all items are intact again" "$(intact)" 60
check "and it takes changes" secret-tool store --label=new number new <<<new
stop_daemon
