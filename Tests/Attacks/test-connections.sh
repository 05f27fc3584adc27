# shellcheck shell=bash disable=SC2154,SC1091
# A program with many connections, beside another program.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter silence
attack connections "$work/asked"
