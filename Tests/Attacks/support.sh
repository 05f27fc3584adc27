# shellcheck shell=bash disable=SC2154
# Functions for the attacks; sourced after own_home and own_bus.

# prompter ANSWER...: starts a prompter of the attacker, or of a test that plays the user; its questions go to
# $work/asked.
prompter_pid=''
prompter() {
    printf '%s\n' "$@" >"$work/answers"
    : >"$work/asked"
    stop_prompter
    /usr/bin/python3 "$scripts/prompter.py" "$work/answers" "$work/asked" 2>"$work/prompter.log" &
    prompter_pid=$!
    eventually ask_bus GetNameOwner string:org.gnome.keyring.SystemPrompter
}
stop_prompter() {
    [[ -n $prompter_pid ]] || return 0
    kill -TERM "$prompter_pid" 2>/dev/null || true
    eventually has_ended "$prompter_pid"
    wait "$prompter_pid" 2>/dev/null || true
    prompter_pid=''
}

# attack NAME ARGUMENT...: runs an attack; each of its lines that ends in "held" or "True" passes.
attack() {
    /usr/bin/python3 "$scripts/$1.py" "${@:2}" >"$work/spoils" 2>"$work/attack.log" ||
        fail "$1 ended early: $(tail -n 3 "$work/attack.log")"
    report_spoils
}

# attack_in_clean_root SCRIPT: runs an attack on an installed keychaind, by clean_root.sh.
attack_in_clean_root() {
    local status=0
    mkdir "$work/clean"
    timeout --kill-after=10 560 bash "$scripts/clean_root.sh" "$work/clean" "$scripts/$1" >"$work/spoils" 2>"$work/attack.log" ||
        status=$?
    if [[ $status -eq 77 ]]; then
        skip "in a clean root: $(tail -n 1 "$work/spoils")"
        return
    fi
    report_spoils
    [[ $status -eq 0 ]] || fail "in a clean root, exit status $status: $(tail -n 5 "$work/attack.log")"
}

report_spoils() {
    local line
    while IFS= read -r line; do
        case ${line#*: } in
        held | True) pass "${line%%:*}" ;;
        *) fail "$line" ;;
        esac
    done <"$work/spoils"
}

# attackers_daemon FOLDER PASSWORD [OPTION...]: starts the attacker's keychaind on a private bus with a copy of the
# keychains; `login` is unlocked if the password is right. `on_attackers_bus` runs commands on that bus.
attackers_bus_pid='' attackers_daemon_pid=''
on_attackers_bus() { DBUS_SESSION_BUS_ADDRESS=unix:path=$work/attacker/bus "$@"; }
attackers_daemon() {
    mkdir -p "$work/attacker"
    XDG_RUNTIME_DIR=$work/attacker bus_configuration >"$work/attacker/bus.conf"
    dbus-daemon --config-file="$work/attacker/bus.conf" --nofork 2>"$work/attacker/bus.log" &
    attackers_bus_pid=$!
    eventually on_attackers_bus ask_bus GetId
    env DBUS_SESSION_BUS_ADDRESS="unix:path=$work/attacker/bus" LD_PRELOAD="$clock" \
        "$KEYCHAIND" --unlock --data-dir "$1" "${@:3}" < <(printf %s "$2") 2>"$work/attacker/keychaind.log" &
    attackers_daemon_pid=$!
    eventually on_attackers_bus owns_name "$attackers_daemon_pid"
}
stop_attackers_daemon() {
    local pid
    for pid in $attackers_daemon_pid $attackers_bus_pid; do
        kill -TERM "$pid" 2>/dev/null || true
        eventually has_ended "$pid"
        wait "$pid" 2>/dev/null || true
    done
    attackers_daemon_pid='' attackers_bus_pid=''
}
trap 'stop_prompter; stop_attackers_daemon; stop_everything' EXIT

stop_daemon() {
    kill -TERM "$daemon_pid"
    eventually has_ended "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
}
