# shellcheck shell=bash disable=SC2154,SC1091
# Deletion and new creation of the keychain `login`.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack passcode_reset store
prompter yes "password mine" no
attack passcode_reset reset
# Three wrong attempts are free, so the owner does not wait.
prompter "password mine" no
attack passcode_reset reset
prompter "password p"
attack passcode_reset read

# Without the domain, also after the file is gone.
rm "$XDG_DATA_HOME"/keychaind/login.keychain*
prompter yes "password mine" no
attack passcode_reset reset | sed 's/$/, without its file/'
prompter "password p"
attack passcode_reset read | sed 's/$/, without its file/'
