# shellcheck shell=bash disable=SC2154,SC1091
# A short password of an item's own, tried by a prompter that answers at once.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password 0042"
attack application_password store
attack application_password read
mapfile -t guesses < <(for ((i = 0; i < 40; i++)); do printf 'password %04d\n' "$i"; done)
prompter "${guesses[@]}" "password 0042"
attack application_password guess 10
stop_daemon
start_daemon
prompter "password 0042"
attack application_password guess 0
