# shellcheck shell=bash disable=SC2154,SC1091
# What is left of secrets in the daemon's memory.

own_home
own_bus
source "$scripts/support.sh"
if [[ $EUID -ne 0 ]]; then
    skip "reading another process's memory takes root"
    exit 0
fi
start_daemon
prompter "password p"
attack idle_memory "$daemon_pid"
