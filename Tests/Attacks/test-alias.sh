# shellcheck shell=bash disable=SC2154,SC1091
# Protected items in a keychain with a password chosen by a program.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack alias plant
attack alias store
prompter "password p"
attack alias read
stop_prompter
stop_daemon

cp -r "$XDG_DATA_HOME/keychaind" "$work/stolen"
# A passcode known to the attacker replaces the victim's.
rm "$work/stolen"/login.keychain*
attackers_daemon "$work/stolen" known
on_attackers_bus prompter "password known"
on_attackers_bus attack alias steal
