# shellcheck shell=bash disable=SC2154,SC1091
# Programs in sandboxes, by real bubblewrap, against each other's items.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack sandboxed_items
