# shellcheck shell=bash disable=SC2154,SC1091
# A program that gets a protected secret, and keeps keychaind from recording that: by a SIGKILL, or by a full disk.

own_home
own_bus
source "$scripts/support.sh"
files=$XDG_DATA_HOME/keychaind
mkdir -p "$files"
# A program's first release of an item, and its further ones, have an entry each.
releases() { "${KEYCHAIND%/*}/keychainctl" audit --json | grep -c '"release"' || true; }
repeated() { "${KEYCHAIND%/*}/keychainctl" audit --json | grep -c 'success × 2' || true; }
begin() {
    start_daemon
    prompter "password p"
}

if mount -t tmpfs -o size=16m,mode=0700 tmpfs "$files" 2>/dev/null; then
    trap 'stop_prompter; stop_everything; umount "$files"' EXIT
fi
begin
item=$(/usr/bin/python3 "$scripts/audit.py" make -)
for number in 1 2 3 4; do
    attack audit killed "$item"
    eventually has_ended "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    begin
    check_equal "the releases before SIGKILL $number are in the audit" \
        "$(releases), $(repeated)" "$((2 * number)), $number"
done

if ! mountpoint -q "$files"; then
    skip "a full disk: mounting a small one needs root"
    exit 0
fi
cat /dev/zero >"$files/ballast" 2>/dev/null || true
check_equal "no byte is free" "$(df --output=avail "$files" | tail -n 1 | tr -d ' ')" 0
attack audit full "$item"
rm "$files/ballast"
check "the program gets the secret when it can be recorded" \
    /usr/bin/python3 "$scripts/audit.py" killed "$item"
eventually has_ended "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
begin
# Also of what was released while there was room, and of what then could not be recorded.
check_equal "and that is in the audit" "$(releases)" 12
stop_prompter
stop_daemon
