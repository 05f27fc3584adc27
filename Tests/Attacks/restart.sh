# shellcheck shell=bash disable=SC2154,SC1091
# In a clean root: anna's real user manager runs an installed keychaind, and a hostile program of anna's has added a
# command to its unit, which runs between two processes. Sourced by clean_root.sh.

source "$scripts/installed.sh"
user=(systemctl --user)
show() { as_anna "${user[@]}" show --property="$1" --value keychaind.service; }
is_active() { [[ $(show ActiveState) == active ]]; }
has_failed() { [[ $(show ActiveState) == failed ]]; }

# The manager makes the bus, as in a session.
as_anna pkill -u anna dbus-daemon
eventually sh -c '! pgrep -u anna dbus-daemon'
rm -f "/run/user/$anna_id/bus"
mkdir -p /run/systemd/system /run/systemd/user
bus_units --session --nopidfile
start_manager() {
    (
        for group in $groups; do
            echo "$BASHPID" >"$group/cgroup.procs"
            chown -R anna "$group"
        done
        as_anna /lib/systemd/systemd --user --log-target=console --unit=dbus.service
    ) 2>"$work/manager.log" &
    manager=$!
    eventually as_anna "${user[@]}" is-active dbus.service
}
start_manager

folder=/home/anna/window
as_anna mkdir -p "$folder" /home/anna/.config/systemd/user/keychaind.service.d
as_anna mkfifo "$folder/close"
as_anna tee /home/anna/.config/systemd/user/keychaind.service.d/window.conf >"$work/said" <<UNIT
[Service]
ExecStopPost=/usr/bin/python3 $work/attacks/window.py $folder
UNIT
as_anna "${user[@]}" daemon-reload
# between COMMAND...: has systemd end keychaind's process, and returns before the next one starts.
between() {
    rm -f "$folder/kept"
    as_anna "$@" &
    command=$!
    eventually test -e "$folder/kept"
}
go_on() {
    echo >"$folder/close"
    wait "$command"
}
keeps_key() { [[ $(stat -c %s "$folder/kept") == 32 ]]; }
has_file() { find "/run/keychaind/$anna_id/data" -type f | grep .; }
unlock() {
    log_in >"$work/said"
    eventually is_locked false
}
is_unlocked_again() { # the next process, once it runs
    eventually is_active
    is_locked false
}

right "keychaind is started by the bus" eventually wake
right "it is in the domain" as_anna "${user[@]}" is-active keychaind.service
right "a login unlocks it" unlock
between "${user[@]}" restart keychaind.service
right "during a restart, systemd keeps a key, which anna's programs see" keeps_key
right "and a file waits" has_file
held "which anna's programs cannot read" as_anna cat "/run/keychaind/$anna_id/data/handover"
go_on
right "the keychain is unlocked after the restart" is_unlocked_again
held "the file is gone" has_file
between "${user[@]}" restart --no-block keychaind.service
as_anna "${user[@]}" daemon-reexec
eventually as_anna "${user[@]}" is-active dbus.service
go_on
right "so it is when systemd executes itself again meanwhile" is_unlocked_again

# A stop in each form leaves nothing, neither during the stop nor afterwards.
stopped() { # NAME COMMAND...
    leaves_nothing "$@"
    starts_locked "$1"
}
leaves_nothing() { # NAME COMMAND...
    between "${@:2}"
    held "a key after $1" keeps_key
    held "a file after $1" has_file
    go_on
    eventually sh -c '! pgrep -x keychaind'
}
starts_locked() { # NAME
    right "keychaind starts after $1" eventually wake
    held "the keychain after $1" is_locked false
    right "which a login unlocks after $1" unlock
}
stopped "a stop" "${user[@]}" stop keychaind.service
stopped "a signal" pkill -TERM -x keychaind

# A program of anna's answers in systemd's place, on a socket of its own and on one that systemd has opened.
private=/run/user/$anna_id/systemd/private
as_anna tee /home/anna/.config/systemd/user/false.socket >"$work/said" <<UNIT
[Socket]
ListenStream=$private.false
UNIT
as_anna tee /home/anna/.config/systemd/user/false.service >"$work/said" <<UNIT
[Service]
ExecStart=/usr/bin/python3 $work/attacks/false_systemd.py $folder/listens systemd:
UNIT
as_anna "${user[@]}" daemon-reload
believes_no_false_systemd() { # NAME
    right "$1 answers" as_anna dbus-send --peer="unix:path=$private" --print-reply / \
        org.freedesktop.systemd1.Manager.GetUnitByPID uint32:1
    leaves_nothing "a signal, when $1 speaks of a restart" pkill -TERM -x keychaind
    as_anna pkill -f attacks/false_systemd.py
    as_anna mv "$private.away" "$private"
    starts_locked "a signal, when $1 speaks of a restart"
}
as_anna mv "$private" "$private.away"
as_anna /usr/bin/python3 "$work/attacks/false_systemd.py" "$folder/listens" "unix:path=$private" 2>"$work/false.log" &
eventually test -e "$folder/listens"
believes_no_false_systemd "a false systemd"
as_anna "${user[@]}" start false.socket
as_anna mv "$private" "$private.away"
as_anna mv "$private.false" "$private"
believes_no_false_systemd "a false systemd on a socket of the real one"
as_anna "${user[@]}" stop false.socket || true

# Another provider takes the name during a restart, and systemd gives up.
as_anna /usr/bin/python3 -c '
import dbus, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
bus = dbus.SessionBus()
bus.request_name("org.freedesktop.secrets")
print("waits", flush=True)
signal.pause()
' >"$work/waits" &
eventually grep -q waits "$work/waits"
between "${user[@]}" restart --no-block keychaind.service
go_on
eventually has_failed
held "a file after a restart that another provider has ended" has_file
as_anna pkill -KILL -f 'request_name'
eventually sh -c '! pgrep -f "[r]equest_name"'
as_anna "${user[@]}" reset-failed keychaind.service || true
starts_locked "a restart that another provider has ended"

# A start of the attacker's in the middle of a restart, with the kept key, on a bus of its own and on anna's.
mkdir -p /home/anna/bus
XDG_RUNTIME_DIR=/home/anna/bus bus_configuration >/home/anna/bus.conf
chown -R anna /home/anna/bus
as_anna dbus-daemon --config-file=/home/anna/bus.conf --nofork 2>"$work/other-bus.log" &
eventually test -S /home/anna/bus/bus
other=DBUS_SESSION_BUS_ADDRESS=unix:path=/home/anna/bus/bus
impostor=(/usr/bin/python3 "$work/attacks/impostor.py" "$folder/kept" /usr/local/bin/keychaind --prompters none)
has_other_keychaind() { as_anna env "$other" gdbus introspect --session --dest org.freedesktop.secrets --object-path /; }
end_impostor() {
    as_anna pkill -KILL -x keychaind
    eventually sh -c '! pgrep -x keychaind'
}
restart_again() {
    between "${user[@]}" restart keychaind.service
    right "a key is kept for $1" keeps_key
}
go_on_locked() {
    end_impostor
    go_on
    eventually is_active
    right "a login unlocks it after $1" unlock
}
restart_again "a start of the attacker's"
as_anna env "$other" "${impostor[@]}" 2>"$work/impostor.log" &
right "keychaind starts on the attacker's bus" eventually has_other_keychaind
held "and opens the keychain" is_locked false "$other"
cp "$folder/kept" "$folder/old"
go_on_locked "a start of the attacker's"
restart_again "a unit of the attacker's with a bus of its own"
as_anna systemd-run --user --quiet --setenv="$other" "${impostor[@]}"
right "keychaind starts as a unit on the attacker's bus" eventually has_other_keychaind
held "and a unit of the attacker's opens the keychain" is_locked false "$other"
go_on_locked "a unit of the attacker's with a bus of its own"
restart_again "a unit of the attacker's"
as_anna systemd-run --user --quiet "${impostor[@]}"
right "keychaind starts as another unit" eventually keychaind_pid
held "and another unit opens the keychain" is_locked false
go_on_locked "a unit of the attacker's"

# A start of the unit with the kept key, in the restart and after a stop that has taken its place.
as_anna tee /home/anna/.config/systemd/user/keychaind.service.d/impostor.conf >"$work/said" <<UNIT
[Service]
ExecStart=
ExecStart=${impostor[*]}
UNIT
as_anna "${user[@]}" daemon-reload
restart_again "a start of the unit"
go_on
right "with which the unit opens the keychain in the restart" is_unlocked_again
restart_again "a stop in place of the restart"
as_anna "${user[@]}" stop --no-block keychaind.service
go_on || true
as_anna "${user[@]}" start keychaind.service
held "a start after a stop in place of the restart" is_locked false
rm /home/anna/.config/systemd/user/keychaind.service.d/impostor.conf
as_anna "${user[@]}" daemon-reload
right "a login unlocks it after that" unlock

# The last login session ends during a restart that a program of anna's asks for.
mock=org.freedesktop.DBus.Mock
/usr/bin/python3 -m dbusmock --system --template logind >"$work/logind.log" 2>&1 &
logind_pid=$!
eventually logind "" org.freedesktop.DBus.Peer.Ping
logind "" $mock.AddMethod org.freedesktop.login1.Manager GetSessionByPID u o \
    "ret = '/org/freedesktop/login1/session/c1'" >"$work/said"
logind "" $mock.AddSession c1 seat0 "$anna_id" anna true >"$work/said"
between "${user[@]}" restart keychaind.service
go_on
right "the keychain is unlocked after a restart in a login session" is_unlocked_again
between "${user[@]}" restart keychaind.service
logind "" $mock.RemoveObject /org/freedesktop/login1/session/c1 >"$work/said"
go_on
eventually is_active
held "a login session that ends during a restart leaves the keychain open" is_locked false
kill "$logind_pid"
wait "$logind_pid" || true
right "a login unlocks it after the login session" unlock

# After a stop, with the key of an earlier restart.
between "${user[@]}" stop keychaind.service
go_on
cp "$folder/old" "$folder/kept"
as_anna env "$other" "${impostor[@]}" 2>"$work/impostor.log" &
right "keychaind starts with an old key" eventually has_other_keychaind
held "and opens the keychain with an old key" is_locked false "$other"
end_impostor

# A logout: the manager ends.
right "keychaind starts before the logout" eventually wake
right "and is unlocked before the logout" unlock
between "${user[@]}" exit
held "a key after a logout" keeps_key
held "a file after a logout" has_file
echo >"$folder/close"
wait "$manager" || true
start_manager
right "keychaind starts at the next login" eventually wake
held "the keychain after a logout" is_locked false
