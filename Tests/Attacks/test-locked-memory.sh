# shellcheck shell=bash disable=SC2154,SC1091
# Programs that have keychaind keep passwords, where it may lock as little memory as on many systems.

own_home
own_bus
source "$scripts/support.sh"
ulimit -l 600
start_daemon
attack locked_memory
check_equal "keychaind still runs" "$(kill -0 "$daemon_pid" && echo yes)" yes
