# shellcheck shell=bash disable=SC2154,SC1091
# The past of a keychain, from before an item was protected: in its own file, and in a past file. The attacker has the
# password.

own_home
own_bus
source "$scripts/support.sh"
data=$XDG_DATA_HOME/keychaind
start_daemon
attack generation store
stop_daemon
cp "$data/login.keychain" "$data/login.keychain-past-1796000000"
start_daemon
attack generation protect
stop_daemon
for file in login.keychain login.keychain-past-1796000000; do
    check "$file is there" test -e "$data/$file"
    PYTHONPATH=$project/Tests/LogTests:$project/Tests/Scripts /usr/bin/python3 -B "$scripts/generation.py" unprotect \
        "$data/$file" "$work/unprotected"
    for stolen in "$data/$file" "$work"/unprotected.*; do
        mkdir -p "$work/stolen"
        cp "$stolen" "$work/stolen/login.keychain"
        cp "$data/index.key" "$work/stolen"
        attackers_daemon "$work/stolen" p --prompters none
        on_attackers_bus attack generation steal
        stop_attackers_daemon
        rm -rf "$work/stolen"
    done
    rm -f "$work"/unprotected.*
done
