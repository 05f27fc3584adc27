# shellcheck shell=bash disable=SC2154,SC1091
# A look-alike beside a protected item.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
attack twin
check_equal "the user was asked about the replacement" "$(head -1 "$work/asked" | grep -c 'replace “Bank”')" 1
