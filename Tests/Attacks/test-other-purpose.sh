# shellcheck shell=bash disable=SC2154,SC1091
# What a yes was not given for.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p" silence "password p" no
attack other_purpose "$work/asked"
