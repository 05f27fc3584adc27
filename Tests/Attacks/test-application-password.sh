# shellcheck shell=bash disable=SC2154,SC1091
# A short application password, guessed through a prompter that answers at once.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
prompter "password 0042"
attack application_password store
attack application_password read

# Few of many guesses are checked: the dialog asks to wait instead.
waits() { grep -c '"warning": "[^"]*Wait' "$work/asked" || true; }
mapfile -t guesses < <(for ((i = 0; i < 40; i++)); do printf 'password %04d\n' "$i"; done)
prompter "${guesses[@]}"
attack application_password guess 8
check_equal "most guesses are not checked" "$(($(waits) > 20))" 1
stop_daemon
start_daemon
prompter "password 0001" "password 0002" no
attack application_password guess 1
check_equal "guesses after a restart are not checked either" "$(($(waits) > 0))" 1
