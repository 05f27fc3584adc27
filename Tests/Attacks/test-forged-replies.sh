# shellcheck shell=bash disable=SC2154,SC1091
# Replies that a program sends in place of the bus.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p"
attack forged_replies
