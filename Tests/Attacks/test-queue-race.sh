# shellcheck shell=bash disable=SC2154,SC1091
# Calls queued before an item was protected.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
attack queue_race userPresence
