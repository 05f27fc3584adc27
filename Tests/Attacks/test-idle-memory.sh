# shellcheck shell=bash disable=SC2154,SC1091
# Secrets left in the memory of an idle daemon.

own_home
own_bus
source "$scripts/support.sh"
if [[ $EUID -ne 0 ]]; then
    skip "reading another process's memory needs root"
    exit 0
fi
start_daemon
prompter "password p"
attack idle_memory "$daemon_pid"
