# shellcheck shell=bash disable=SC2154,SC1091
# Rules about programs in sandboxes, by real bubblewrap.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
# Five changes of the rules, and the question that the last rule asks.
prompter "password p" "password p" "password p" "password p" "password p" yes
attack sandbox_rules
