# shellcheck shell=bash disable=SC2154,SC1091
# Bad pages, and a disk that fails to read for a moment: what is intact is read, and nothing is changed.

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
# rows FILE PAGE: the rows of a leaf page.
rows() {
    local bytes
    read -ra bytes < <(od --address-radix=n --format=u1 --skip-bytes=$((($2 - 1) * 4096)) --read-bytes=5 "$1")
    if [[ ${bytes[0]} -eq 13 ]]; then echo $((bytes[3] * 256 + bytes[4])); else echo 0; fi
}
pages() { echo "$(($(stat --format %s "$1") / 4096))"; }
zero() { dd if=/dev/zero of="$1" bs=4096 seek="$(($2 - 1))" count=1 conv=notrunc status=none; }

start_daemon
for number in {1..60}; do secret-tool store --label="$number" number "$number" all yes <<<"secret $number"; done
check_equal "all items are intact" "$(intact)" 60
check "an undamaged keychain passes the check, with its past states" ctl check
stop_daemon
cp -r "$files" "$work/whole"

# Each page in turn.
others='' most=0 worst=0
for ((page = 1; page <= $(pages "$work/whole/login.keychain"); page++)); do
    rm -rf "$files"
    cp -r "$work/whole" "$files"
    zero "$files/login.keychain" "$page"
    cp "$files/login.keychain" "$work/damaged"
    start_daemon
    left=$(intact)
    [[ $left -ge $((60 - $(rows "$work/whole/login.keychain" "$page"))) ]] || others+=" $page"
    if [[ $((60 - left)) -gt $most ]]; then most=$((60 - left)) worst=$page; fi
    if [[ $left -lt 60 ]]; then
        if secret-tool store --label=new number new <<<new 2>/dev/null; then fail "page $page: a change is accepted"; fi
    fi
    stop_daemon
    [[ $left -eq 60 ]] || cmp --silent "$files/login.keychain" "$work/damaged" || fail "page $page: the file was changed"
done
check_equal "no page costs items of another page" "$others" ''
check "some page costs items" test "$most" -gt 0

# The worst page again: it is told, checked and salvaged.
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

# A bad block in the middle of the journal that a killed keychaind has left. A pause of 250 ms would have moved it into
# the file, so one program stores all.
store_at_once() {
    PYTHONPATH=$scripts /usr/bin/python3 -B - <<'PYTHON'
from secrets_client import *

client = Client()
for number in range(61, 67):
    client.create(f"{number}", {**SCHEMA, "number": f"{number}", "all": "yes"}, f"secret {number}")
PYTHON
}
for _ in {1..20}; do
    rm -rf "$files"
    cp -r "$work/whole" "$files"
    start_daemon
    store_at_once
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    if cmp --silent "$files/login.keychain" "$work/whole/login.keychain"; then break; fi
done
zero "$files/login.keychain-wal" 3
cp "$files/login.keychain-wal" "$work/damaged-journal"
start_daemon
check "a damaged journal is told" says "its journal is damaged"
check_equal "what is behind the damage is read" "$(intact)" 66
if secret-tool store --label=new number new <<<new 2>/dev/null; then fail "a change is accepted"; fi
check "the journal is not overwritten" cmp "$work/damaged-journal" "$files/login.keychain-wal"
if ctl check login >/dev/null 2>&1; then fail "the check passes"; fi
prompter yes
check "it is salvaged" ctl salvage login
stop_prompter
check_equal "the new keychain has all of it" "$(intact)" 66
check "the damaged journal is kept" cmp "$work/damaged-journal" "$files"/login.keychain.unreadable-*-wal
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
before=$(sha256sum <"$files/state.db")
touch "$work/failing"
export FAILING=$work/failing
BAD_FILE=state.db LD_PRELOAD=$work/disk.so start_daemon
check "a failed read of state.db is told" says "state.db cannot be used for now"
check "the keychain is read all the same" test "$(intact)" -gt 0
check_equal "the file is as it was" "$(sha256sum <"$files/state.db")" "$before"
check_equal "nothing is set aside" "$(find "$files" -name 'state.db.*')" ''
rm "$work/failing"
check "it is taken up when the disk works again" eventually is_silent
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
start_daemon
check "and intact after a kill" is_silent
stop_daemon

# A bad sector, and a disk that returns it after all.
rm -rf "$files"
cp -r "$work/whole" "$files"
touch "$FAILING"
BAD_FILE=login.keychain BAD_PLACE=$(((worst - 1) * 4096 + 512)) LD_PRELOAD=$work/disk.so start_daemon
check_equal "a bad sector costs the items on it" "$(intact)" "$((60 - most))"
check "it is told" says "tried again"
if secret-tool store --label=new number new <<<new 2>/dev/null; then fail "a change is accepted"; fi
rm "$FAILING"
check "all is read when the disk returns it" eventually is_silent
check_equal "all items are intact again" "$(intact)" 60
check "and it takes changes" secret-tool store --label=new number new <<<new
stop_daemon

# Blocks of the journals that a killed keychaind has left, up to the last change.
if /usr/bin/python3 -B "$project/Tests/Attacks/journal_end.py" "$KEYCHAIND" "$work/journals" 7 >"$work/log"; then
    pass "damage up to the end of a journal is told: $(tail -n 1 "$work/log")"
else
    fail "damage up to the end of a journal: $(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
fi
