# shellcheck shell=bash disable=SC2154
# Everything is deleted on a disk without a free byte.

own_home
own_bus
files=$XDG_DATA_HOME/keychaind
mkdir -p "$files"
if ! mount -t tmpfs -o size=16m,mode=0700 tmpfs "$files" 2>/dev/null; then
    skip "a small disk: mounting one needs root"
    exit 0
fi
trap 'stop_everything; umount "$files"' EXIT
fill() { cat /dev/zero >"$files/ballast" 2>/dev/null || true; }

start_daemon
for ((number = 0; number < 160; number++)); do
    secret-tool store --label=x number "$number" kind all <<<"secret $number" 2>/dev/null || fail "item $number"
done
kill -TERM "$daemon_pid"
eventually has_ended "$daemon_pid"
fill
start_daemon
check_equal "no byte is free" "$(df --output=avail "$files" | tail -n 1 | tr -d ' ')" 0
refused=0
for ((number = 0; number < 80; number++)); do
    secret-tool clear number "$number" 2>/dev/null || refused=$((refused + 1))
done
check_equal "all deletions work" "$refused" 0
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
fill
start_daemon
for ((number = 80; number < 160; number++)); do
    secret-tool clear number "$number" 2>/dev/null || refused=$((refused + 1))
done
check_equal "they work after a kill and a start, too" "$refused" 0
rm "$files/ballast"
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
start_daemon
check_equal "nothing comes back" "$(secret-tool search --all kind all 2>/dev/null | grep -c '^secret')" 0
