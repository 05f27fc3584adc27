# shellcheck shell=bash disable=SC2154,SC1091
# Files restored to a state from before an item was protected.

own_home
own_bus
source "$scripts/support.sh"
data=$XDG_DATA_HOME/keychaind

start_daemon
attack rollback store
stop_daemon
cp -r "$data" "$work/before"
start_daemon
attack rollback protect
attack rollback read
stop_daemon
cp -r "$data" "$work/after"

# again NAME [COLLECTION]: starts keychaind on the current folder and reads the item.
again() {
    start_daemon
    attack rollback "${read:-read}" "${@:2}" | sed "s/\$/, $1/"
    stop_daemon
    rm -rf "$data"
    cp -r "$work/after" "$data"
}

for how in over behind end; do
    PYTHONPATH=$project/Tests/LogTests:$project/Tests/Scripts /usr/bin/python3 -B "$scripts/rollback.py" "$how" \
        "$work/before/login.keychain" "$data/login.keychain"
    # Two of these destroy the present frame.
    read=$([[ $how == behind ]] && echo read || echo read-lost) again "a frame ($how)"
done
cp "$work/before/login.keychain" "$data/login.keychain"
again "the whole file"
cp "$work/before/login.keychain" "$data/copy.keychain"
prompter "password p"
again "a copy under a new name" copy
