# shellcheck shell=bash disable=SC2154,SC1091
# A grant used for another purpose than the user approved.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password p" silence "password p" no
attack other_purpose "$work/asked"
