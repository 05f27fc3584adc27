# shellcheck shell=bash disable=SC2154,SC1091
# An item beside a protected one that looks the same.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
attack twin
check_equal "the person was asked to replace it" "$(head -1 "$work/asked" | grep -c 'replace “Bank”')" 1
