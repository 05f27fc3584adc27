# shellcheck shell=bash disable=SC2154,SC1091
# A keychain `login` that is deleted and made anew.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack passcode_reset store
prompter yes "password mine" no
attack passcode_reset reset
# Three wrong ones are free; the owner is not to wait.
prompter "password mine" no
attack passcode_reset reset
prompter "password p"
attack passcode_reset read
