# shellcheck shell=bash disable=SC1091,SC1111,SC2016,SC2034,SC2154
# In a clean root: an installed keychaind, anna's session, and a hostile program of anna's. Sourced by clean_root.sh.

source "$scripts/installed.sh"
kill_keychaind() {
    local pid
    pid=$(keychaind_pid) || return 0
    as_anna kill -KILL "$pid"
    eventually has_ended "$pid"
}

# Before keychaind runs, a program of anna's listens at the former path for logins.
as_anna mkdir -p "/run/user/$anna_id/keychaind"
as_anna /usr/bin/python3 "$work/attacks/listener.py" "/run/user/$anna_id/keychaind/pam" "/home/anna/heard" &
listener=$!
eventually test -S "/run/user/$anna_id/keychaind/pam"
log_in >"$work/said"
held "a listener of anna's at a login" grep -q "password of anna" /home/anna/heard
kill "$listener"
rm -f "/run/user/$anna_id/keychaind/pam"

right "keychaind is started by the bus" wake
pid=$(keychaind_pid)
right "it is in the domain" grep -q "^Gid:.$(id -g anna).$(stat -c %g /usr/local/bin/keychaind).$(stat -c %g /usr/local/bin/keychaind)" "/proc/$pid/status"
right "a login" log_in
right "makes and unlocks the keychain" eventually is_locked false

bank=(service bank)
printf 'the secret of the bank' >"$work/secret"
right "anna protects an item by finger" as_anna secret-tool store --label=Bank "${bank[@]}" keychain:access-control biometryAny <"$work/secret"
printf 'for everybody' | as_anna secret-tool store --label=Other service other

# read_bank: anna looks it up, and touches the reader when asked.
read_bank() {
    as_anna timeout 60 secret-tool lookup "${bank[@]}" >"$work/found" 2>&1 &
    local lookup=$!
    /usr/bin/python3 "$scripts/reader.py" "$work/reader" touch 40 || return 1
    wait "$lookup"
    cmp "$work/found" "$work/secret"
}
right "anna reads it with her finger" read_bank

# Files.
held "its files, listed" as_anna ls "$data"
held "its files, by name" as_anna stat "$data/login.keychain"
held "its folder, moved" as_anna mv "/var/lib/keychaind/$anna_id" "/var/lib/keychaind/mine"
held "its folder, opened to others" as_anna chmod 777 "$data"
held "a file of anna's in it" as_anna touch "$data/copy.keychain"
useradd bert
bert_id=$(id -u bert)
held "another user" setpriv --reuid bert --regid bert --init-groups ls "/var/lib/keychaind/$anna_id/data"
held "another user's keychaind" setpriv --reuid bert --regid "$(stat -c %g /usr/local/bin/keychaind)" --clear-groups \
    ls "/var/lib/keychaind/$anna_id/data"

# The process.
held "its memory" as_anna dd if="/proc/$pid/mem" bs=1 count=1
held "its environment" as_anna cat "/proc/$pid/environ"
held "its descriptors" as_anna ls "/proc/$pid/fd/0"
held "a debugger" as_anna timeout 20 gdb --batch --pid "$pid" -ex 'print 1' -ex 'generate-core-file /home/anna/core'
[[ ! -e /home/anna/core ]] || echo "a core file: GOT IN"

# A library loaded into it.
as_anna sh -c 'echo "__attribute__((constructor)) static void enter(void) { __builtin_trap(); }" | cc -shared -fPIC -x c -o $HOME/mine.so -'
held "LD_PRELOAD" as_anna sh -c 'LD_PRELOAD=$HOME/mine.so /usr/local/bin/keychaind --version; test $? -ne 0'
right "which any other program loads" as_anna sh -c '! LD_PRELOAD=$HOME/mine.so /bin/true'

# Another start of it, with the attacker's bus, options and environment.
kill_keychaind
held "a bus address that is a command" as_anna env DBUS_SESSION_BUS_ADDRESS="unixexec:path=/usr/bin/touch,argv1=/home/anna/ran" \
    sh -c 'timeout 10 /usr/local/bin/keychaind; test -e $HOME/ran'
held "the folder as an option" as_anna timeout 10 /usr/local/bin/keychaind --data-dir "$data"
as_anna mkdir -p /home/anna/bus
XDG_RUNTIME_DIR=/home/anna/bus bus_configuration >/home/anna/bus.conf
as_anna dbus-daemon --config-file=/home/anna/bus.conf --nofork 2>"$work/other-bus.log" &
eventually test -S /home/anna/bus/bus
as_anna sh -c 'printf guess | DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/bus/bus exec /usr/local/bin/keychaind --unlock --prompters none' \
    2>"$work/other.log" &
eventually grep -q . "$work/other.log"
held "a bus of the attacker's" as_anna env DBUS_SESSION_BUS_ADDRESS=unix:path=/home/anna/bus/bus timeout 20 \
    secret-tool lookup "${bank[@]}"
as_anna pkill -x keychaind || true
eventually sh -c '! pgrep -x keychaind'
right "it comes back where it belongs" wake
right "where a login" log_in
right "unlocks it again" eventually is_locked false

# A prompter without dialogs. It is asked while keychaind cannot show a dialog of its own on a screen.
: >"$work/asked"
chmod 666 "$work/asked"
has_prompter() {
    as_anna dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
        string:org.gnome.keyring.SystemPrompter
}
false_prompter() { # ANSWER
    echo "$1" >"$work/answers"
    as_anna pkill gcr-prompter || true
    eventually sh -c '! pgrep gcr-prompter'
    as_anna /usr/bin/python3 "$work/attacks/prompter.py" "$work/answers" "$work/asked" 2>"$work/prompter.log" &
    eventually has_prompter
}
stop_false_prompter() {
    pkill -f attacks/prompter.py
    eventually sh -c '! pgrep -f "[a]ttacks/prompter.py"'
}
false_prompter yes
right "beside it, anna reads it with her finger in keychaind's dialog" read_bank
held "and it was asked nothing" test -s "$work/asked"
screen off
as_anna timeout 20 secret-tool lookup "${bank[@]}" >"$work/found" 2>&1 &
lookup=$!
held "a prompter that shows nothing arms no reader" /usr/bin/python3 "$scripts/reader.py" "$work/reader" touch 3
wait "$lookup" || true
held "and gets nothing" grep -q "secret of the bank" "$work/found"
as_anna /usr/bin/python3 "$work/attacks/domain_calls.py" delete >"$work/said" 2>&1 || true
right "nor does its yes delete the keychain" sh -c "test \"\$(setpriv --reuid anna --regid anna --init-groups env HOME=/home/anna DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$anna_id/bus secret-tool lookup service other)\" = 'for everybody'"
right "it was asked all the same" test -s "$work/asked"
stop_false_prompter
screen on
right "anna reads it with her finger still" read_bank

# Every attack over the bus only, on the installed program.
as_anna pkill -TERM -x keychaind
eventually sh -c '! pgrep -x keychaind'
wake >"$work/said"
log_in >"$work/said"
eventually is_locked false
screen off
false_prompter 'password the password of anna'
# What a dialog says of the caller is in files of processes, which only anna's own rights open.
printf '#!/usr/bin/python3\nimport subprocess\nsubprocess.run(["secret-tool", "lookup", "service", "other"])\n' >/home/anna/ledger
chmod 755 /home/anna/ledger
as_anna keychainctl lock
as_anna env LANG=de_DE.UTF-8 timeout 60 /home/anna/ledger >"$work/found" || true
right "a program of anna's unlocks the keychain" grep -q 'for everybody' "$work/found"
right "the dialog names the program behind the caller" grep -q "Skript „ledger“" "$work/asked"
right "and speaks its language" grep -q Prozess "$work/asked"
in_session() { as_anna timeout 120 /usr/bin/python3 "$work/attacks/$1.py" "${@:2}" 2>"$work/attack.log" || echo "$1 ended early: $(tail -n 1 "$work/attack.log")"; }
backup=/home/anna/.local/share/keychaind/backup
held "a backup from before, without the password" as_anna sh -c "grep -q 'secret of the bank' $backup/*"
right "anna restores it with the password" as_anna timeout 60 /usr/bin/python3 "$work/attacks/domain_calls.py" restore \
    "$(find "$backup" -name 'login*' | sort | tail -n 1)"
log_in >"$work/said"
eventually is_locked false
in_session queue_race devicePasscode | sed 's/^/in the domain, /'
in_session twin | sed 's/^/in the domain, /'
stop_false_prompter
