# shellcheck shell=bash disable=SC2154,SC1091
# Earlier states of a keychain, from before an item was protected, opened with the keychain's password.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
attack generation store
stop_daemon
generations=("$XDG_DATA_HOME"/keychaind/generations/login.*.keychain)
if [[ -e ${generations[0]} ]]; then
    for generation in "${generations[@]}"; do
        mkdir -p "$work/stolen"
        cp "$generation" "$work/stolen/login.keychain"
        cp "$XDG_DATA_HOME/keychaind/index.key" "$work/stolen"
        attackers_daemon "$work/stolen" p --prompters none
        on_attackers_bus attack generation steal
        stop_attackers_daemon
        rm -rf "$work/stolen"
    done
else
    pass "there is no earlier state"
fi
