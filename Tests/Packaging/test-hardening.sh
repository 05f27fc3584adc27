# shellcheck shell=bash disable=SC2154
# What keychaind does before it opens a keychain, and what its log says where the kernel refuses that.

own_home
own_bus
files=$XDG_DATA_HOME/keychaind
log_says() { grep -q "$1" "$work/keychaind.log"; }
is_filtered() { grep -qx $'Seccomp:\t2' "/proc/$daemon_pid/status"; }
end_daemon() {
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || true
    daemon_pid=''
}

# The cost of a real password, without the variable of the tests.
unset KEYCHAIND_CHEAP_KEYS
check "keychaind starts" start_daemon
secret-tool store --label=l name value <<<secret
end_daemon
check_equal "a password takes Argon2id 64 MiB and three passes" \
    "$(/usr/bin/python3 -B Tests/Scripts/slots.py "$files/login.keychain")" "1 65536 3 1"
export KEYCHAIND_CHEAP_KEYS=1

# Another process has the folder, so that the keychains are not open yet.
exec {lock}<"$files/lock"
flock "$lock"
start_daemon --replace
check "its system calls are filtered before it opens a keychain" eventually is_filtered
flock --unlock "$lock"
exec {lock}<&-
check_equal "then it opens the keychain" "$(secret-tool lookup name value)" secret
end_daemon

echo 'int seccomp_load(void *filter) { (void)filter; return -1; }' | cc -shared -fPIC -o "$work/refuse.so" -x c -
LD_PRELOAD=$work/refuse.so start_daemon
check "a refused filter is in the log" eventually log_says "System calls are not filtered"
check_equal "without the filter it serves" "$(secret-tool lookup name value)" secret
end_daemon

limit=(prlimit --memlock=16384:16384)
[[ $EUID -ne 0 ]] || limit+=(setpriv --bounding-set -ipc_lock)
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${limit[*]}" "$KEYCHAIND" >"$work/limited"
chmod 755 "$work/limited"
KEYCHAIND=$work/limited start_daemon
check "memory that cannot be locked is in the log" eventually log_says "Memory cannot be locked"
