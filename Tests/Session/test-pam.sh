# shellcheck shell=bash disable=SC2154,SC2119
# pam_keychaind with the real PAM and the real daemon; no login fails because of it.

own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
make_account "the first password"
user_environment
start_user_bus
start_user_daemon --verbose

whole=(authenticate account establish open close)
all_well="authenticate=0 account=0 establish=0 open=0 close=0 "
said_by() { "$@" | tr '\n' ' '; }
log_says() { grep -q "$1" "$work/keychaind.log"; }

check_equal "only the user can reach the socket" "$(stat -c '%a %u' "$XDG_RUNTIME_DIR/keychaind" "$XDG_RUNTIME_DIR/keychaind/pam" | tr '\n' ' ')" \
    "700 $user_id 700 $user_id "
check_equal "a login with a wrong password fails" "$(said_by log_in wrong authenticate)" "authenticate=7 "
check_equal "a wrong password creates no keychain" "$(is_locked)" true
check_equal "the first login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check "the first login creates the keychain" eventually test -e "$XDG_DATA_HOME/keychaind/login.keychain"
store kept "of the first day"
check_equal "the first login leaves the keychain unlocked" "$(is_locked)" false

stop_user_daemon
start_user_daemon --verbose
check_equal "after a restart the keychain is locked" "$(is_locked)" true
check_equal "the second login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "after the second login, the first call finds the keychain unlocked" "$(look_up kept)" "of the first day"

stop_user_daemon
start_user_daemon --verbose
printf '%s\n' "the first password" |
    LD_PRELOAD="libpam_wrapper.so $clock" PAM_WRAPPER=1 PAM_WRAPPER_SERVICE_DIR=$work/pam.d \
        pamtester login "$user" authenticate acct_mgmt open_session close_session >"$work/said" 2>&1 ||
    fail "pamtester: $(<"$work/said")"
check_equal "a login by pamtester unlocks the keychain" "$(look_up kept)" "of the first day"

stop_user_daemon
start_user_daemon --verbose
check_equal "a screen locker's authentication succeeds" "$(said_by log_in "the first password" authenticate refresh)" "authenticate=0 refresh=0 "
check_equal "a screen locker's authentication unlocks the keychain" "$(look_up kept)" "of the first day"

stop_user_daemon
start_user_daemon --verbose
other=$([[ $user == root ]] && echo nobody || echo root)
check_equal "a session of another user succeeds" \
    "$(said_by log_in "the first password" authenticate "user:$other" open "user:$user" open)" \
    "authenticate=0 user:$other=0 open=0 user:$user=0 open=0 "
check_equal "a session of another user unlocks nothing" "$(is_locked)" true

printf %s "given by root" >"$work/account"
check_equal "a login with another password than the keychain's succeeds" "$(said_by log_in "given by root" "${whole[@]}")" "$all_well"
check "the log says that the passwords differ" eventually log_says "another password than the account"
check_equal "a login with another password unlocks nothing" "$(is_locked)" true
printf %s "the first password" >"$work/account"

# Other processes at the socket.
check_equal "clients that break the protocol are refused" "$(as_user /usr/bin/python3 "$work/peers.py" "$XDG_RUNTIME_DIR/keychaind/pam" 2>&1)" "refused: 9"
check_equal "clients that break the protocol change nothing" "$(is_locked)" true
check_equal "beside clients that break the protocol, a login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "beside clients that break the protocol, a login unlocks the keychain" "$(look_up kept)" "of the first day"
if [[ $EUID -eq 0 ]]; then
    chmod 755 "$runtime/$user_id" "$XDG_RUNTIME_DIR/keychaind"
    chmod 777 "$XDG_RUNTIME_DIR/keychaind/pam"
    check_equal "a connection of another user is refused" \
        "$(setpriv --reuid 1 --regid 1 --clear-groups /usr/bin/python3 "$work/peers.py" "$XDG_RUNTIME_DIR/keychaind/pam" 2>&1)" \
        "refused: 9"
    check "the connection of another user is logged" eventually log_says "Refused a login from another user"
    chmod 700 "$runtime/$user_id" "$XDG_RUNTIME_DIR/keychaind" "$XDG_RUNTIME_DIR/keychaind/pam"
fi

# Obstacles on the way to the daemon. Every login behaves as without the module.
login_clock=''
kill -STOP "$daemon_pid"
check_equal "with a stopped daemon, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
waiting=()
for ((i = 0; i < 12; i++)); do
    log_in "the first password" authenticate open >"$work/said" &
    waiting+=($!)
done
wait "${waiting[@]}"
check_equal "with a full connection queue, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
kill -CONT "$daemon_pid"
unset login_clock
stop_user_daemon
start_user_daemon --verbose
kill -STOP "$daemon_pid"
as_user /usr/bin/python3 "$work/queue.py" "$XDG_RUNTIME_DIR/keychaind/pam"
check_equal "with signals and a full queue, the login succeeds" \
    "$(said_by log_in "the first password" authenticate "resume:$daemon_pid" open)" \
    "authenticate=0 resume:$daemon_pid=0 open=0 "
check_equal "signals do not end the wait for the daemon" "$(look_up kept)" "of the first day"
stop_user_daemon
check_equal "without a daemon, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"

# Logins wait while another process, such as a replaced daemon, still uses the folder of the keychains.
exec {folder_lock}<"$XDG_DATA_HOME/keychaind/lock"
flock "$folder_lock"
start_user_daemon --verbose --replace
log_in "the first password" authenticate open >"$work/said" &
login_pid=$!
flock --unlock "$folder_lock"
exec {folder_lock}<&-
wait "$login_pid"
check_equal "a login before the vault is open unlocks the keychain" "$(look_up kept)" "of the first day"
stop_user_daemon

# Places that the module must not connect to: a listener records what it gets.
folder=$XDG_RUNTIME_DIR/keychaind
hears_nothing() { # NAME PATH [COMMAND...]: somebody listens at the path
    : >"$work/heard"
    "${@:3}" /usr/bin/python3 "$work/listener.py" "$2" >"$work/heard" 2>&1 &
    local listener=$!
    eventually grep -q listening "$work/heard"
    [[ -z ${prepare:-} ]] || "$prepare" "$2"
    check_equal "$1: the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
    check_equal "$1: the listener hears nothing" "$(<"$work/heard")" "listening"
    kill "$listener"
    wait "$listener" || true
    rm -rf "$folder"
}
replaced_by_a_link() { rm -rf "$folder/pam"; as_user ln -s "$1" "$folder/pam"; }
folder_replaced_by_a_link() { rm -rf "$folder"; as_user ln -s "${1%/*}" "$folder"; }
owned_by_root() { chown 0 "$1"; }
rm -rf "$folder"
as_user mkdir -m 700 "$folder"
as_user mkdir -m 755 "$XDG_RUNTIME_DIR/elsewhere"
prepare=replaced_by_a_link hears_nothing "a link to the socket" "$XDG_RUNTIME_DIR/elsewhere/pam" "${become_user[@]}"
as_user mkdir -m 700 "$folder"
prepare=folder_replaced_by_a_link hears_nothing "a link to the folder" "$XDG_RUNTIME_DIR/elsewhere/pam" "${become_user[@]}"
if [[ $EUID -eq 0 ]]; then
    as_user mkdir -m 777 "$folder"
    hears_nothing "another user's socket" "$folder/pam" env
    as_user mkdir -m 777 "$folder"
    chmod 777 "$folder"
    give_to_user() { chown "$user_id" "$1"; }
    prepare=give_to_user hears_nothing "another user at the user's socket" "$folder/pam" env
fi
as_user mkdir -p -m 700 "$folder"
: >"$work/heard"
"${become_user[@]}" /usr/bin/python3 "$work/listener.py" "$folder/pam" nonsense >"$work/heard" 2>&1 &
listener=$!
eventually grep -q listening "$work/heard"
check_equal "with an invalid reply, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
kill "$listener"
wait "$listener" || true
rm -rf "$folder"

# Password changes.
start_user_daemon --verbose
check_equal "a password change succeeds" \
    "$(printf '%s\n' "the first password" "the second" | act_as_login login "$user" change)" "change=0"
check "a password change reaches the keychain" eventually log_says "have the account's new password"
stop_user_daemon
start_user_daemon --verbose
check_equal "a login with the new password succeeds" "$(said_by log_in "the second" "${whole[@]}")" "$all_well"
check_equal "a login with the new password unlocks the keychain" "$(look_up kept)" "of the first day"
stop_user_daemon

write_service expired expired
check_equal "a password change without a daemon succeeds" \
    "$(printf '%s\n' "the second" "the second" "the third" | act_as_login expired "$user" \
        authenticate account change | tr '\n' ' ')" "authenticate=0 account=12 change=0 "
printf %s "the second" >"$work/account"
start_user_daemon --verbose
kill -STOP "$daemon_pid"
printf '%s\n' "the second" "the second" "the third" >"$work/lines"
(eventually login_waits && kill -CONT "$daemon_pid") &
check_equal "a login with an expired password succeeds" \
    "$(act_as_login expired "$user" authenticate account change open <"$work/lines" | tr '\n' ' ')" \
    "authenticate=0 account=12 change=0 open=0 "
is_unlocked() { [[ $(is_locked) == false ]]; }
check "the new password after an expired one unlocks the keychain" eventually is_unlocked
check_equal "the items are unchanged after an expired password" "$(look_up kept)" "of the first day"
stop_user_daemon

printf %s "by root" >"$work/account"
start_user_daemon --verbose --prompters none
log_in "by root" "${whole[@]}" >"$work/said"
check "the log says that the passwords differ again" eventually log_says "another password than the account"
stop_user_daemon
