# shellcheck shell=bash disable=SC2154,SC1091
# Files that may not grow, by a limit of the process: changes are refused, and nothing ends.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack file_limit stores before
prlimit --pid "$daemon_pid" --fsize=0:
attack file_limit refuses meanwhile
prlimit --pid "$daemon_pid" --fsize=unlimited:
attack file_limit stores afterwards
check_equal "keychaind still runs" "$(kill -0 "$daemon_pid" && echo yes)" yes
