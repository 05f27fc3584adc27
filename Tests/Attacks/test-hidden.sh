# shellcheck shell=bash disable=SC2154,SC1091
# An item that a rule hides.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
attack hidden
