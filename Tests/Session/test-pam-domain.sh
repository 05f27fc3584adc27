# shellcheck shell=bash disable=SC2154,SC2119,SC2034
# pam_keychaind with a domain: the password goes only to a process with the user's uid and the domain's group, whoever
# else listens.

# Root can create a domain in a mount namespace with the test's own /etc/group, /run and /var/lib.
[[ $EUID -eq 0 ]] || { skip "the domain needs root" && return 0; }
own_mounts
own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
module_options=''
make_account "the first password"
user_environment
start_user_bus

make_domain

whole=(authenticate account establish open close)
all_well="authenticate=0 account=0 establish=0 open=0 close=0 "
said_by() { "$@" | tr '\n' ' '; }
log_says() { grep -q "$1" "$work/keychaind.log"; }
in_group=(setpriv --reuid "$user_id" --regid "$group" --clear-groups)

home_socket=$XDG_RUNTIME_DIR/keychaind/pam
domain_folder=/run/keychaind/$user_id/data
listens_at() { grep -q " 00010000 .* $1\$" /proc/net/unix; }
# shellcheck disable=SC2317  # start_user_daemon calls it
hears_logins() { listens_at "$login_socket"; }
login_socket=$domain_folder/pam

start_user_daemon --verbose
check "keychaind runs in the domain" eventually log_says "runs in a domain of its own"
check "keychaind does not listen at the user's path" test ! -e "$home_socket"
check_equal "the user cannot reach its socket" "$(as_user test -e "$domain_folder/pam" && echo reached || echo no)" no
check_equal "the first login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check "the first login creates the keychain in the domain" eventually test -e "/var/lib/keychaind/$user_id/data/login.keychain"
store kept "of the first day"
check_equal "the first login leaves the keychain unlocked" "$(look_up kept)" "of the first day"
stop_user_daemon
start_user_daemon --verbose
check_equal "after a restart the keychain is locked" "$(is_locked)" true
check_equal "the second login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "the second login unlocks the keychain" "$(look_up kept)" "of the first day"
stop_user_daemon

# Listeners at the user's path, before keychaind starts or beside it, get no password.
listen() { # PATH COMMAND...: somebody listens at the path
    : >"$work/heard"
    "${@:2}" >"$work/heard" 2>&1 &
    listener=$!
    eventually grep -q listening "$work/heard"
}
stop_listening() {
    kill "$listener"
    wait "$listener" || true
    rm -f "$1"
}
login_clock=''
as_user mkdir -p -m 700 "${home_socket%/*}"
listen "$home_socket" "${become_user[@]}" /usr/bin/python3 "$work/listener.py" "$home_socket"
check_equal "with a listener at the user's path, without keychaind, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" \
    "$all_well"
check_equal "that listener hears nothing" "$(<"$work/heard")" listening
start_user_daemon --verbose
check_equal "with a listener at the user's path, beside keychaind, the login succeeds" \
    "$(login_clock=$clock said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "a listener beside keychaind hears nothing" "$(<"$work/heard")" listening
check_equal "with a listener, the login unlocks the keychain" "$(look_up kept)" "of the first day"
stop_user_daemon
stop_listening "$home_socket"

# Listeners in the domain's folder that are not the user with the group.
rm -f "$domain_folder/pam"
for which in "without the group:$user_id" "in another group:1"; do
    listen "$domain_folder/pam" "${in_group[@]}" --inh-caps=+setgid --ambient-caps=+setgid \
        /usr/bin/python3 "$work/listener.py" "$domain_folder/pam" "${which#*:}"
    check_equal "a listener ${which%:*}: the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
    check_equal "a listener ${which%:*} hears nothing" "$(<"$work/heard")" listening
    stop_listening "$domain_folder/pam"
done
listen "$domain_folder/pam" "${in_group[@]}" /usr/bin/python3 "$work/listener.py" "$domain_folder/pam"
is_heard() {
    said_by log_in "the first password" "${whole[@]}" >/dev/null
    grep -q '^heard 2064$' "$work/heard"
}
check "control: a listener with uid and group hears the password" eventually is_heard
stop_listening "$domain_folder/pam"

# Folders with a wrong owner, mode or type.
listen "$domain_folder/pam" "${in_group[@]}" /usr/bin/python3 "$work/listener.py" "$domain_folder/pam"
chmod 2777 "$domain_folder"
check_equal "a folder that others can enter: the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "a folder that others can enter: the listener hears nothing" "$(<"$work/heard")" listening
chmod 2770 "$domain_folder"
chown "$user_id" "/run/keychaind/$user_id"
check_equal "a folder of the user: the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "a folder of the user: the listener hears nothing" "$(<"$work/heard")" listening
chown 0 "/run/keychaind/$user_id"
mv "$domain_folder" "$domain_folder-away"
ln -s "$domain_folder-away" "$domain_folder"
check_equal "a link instead of a folder: the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "a link instead of a folder: the listener hears nothing" "$(<"$work/heard")" listening
rm "$domain_folder"
mv "$domain_folder-away" "$domain_folder"
stop_listening "$domain_folder/pam"

# A keychaind outside of the domain, which the user's programs can also be.
chmod 755 "$work/system/bin/keychaind"
login_socket=$home_socket
start_user_daemon --verbose
check "keychaind starts outside of the domain" eventually log_says "runs without a domain"
check_equal "with keychaind outside of the domain, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "a keychaind outside of the domain gets no password and creates no keychain" "$(test -e "$XDG_DATA_HOME/keychaind/login.keychain" && echo made || echo none)" none
module_options=group=no-such-group write_service explicit
check_equal "with an unknown group in the configuration, the login succeeds" \
    "$(service=explicit said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "with an unknown group, no process gets the password" \
    "$(test -e "$XDG_DATA_HOME/keychaind/login.keychain" && echo made || echo none)" none
module_options=group=none write_service none
check_equal "with group=none, the login succeeds" "$(service=none said_by log_in "the first password" "${whole[@]}")" "$all_well"
check "with group=none, the password goes to the user's path" eventually test -e "$XDG_DATA_HOME/keychaind/login.keychain"
stop_user_daemon
rm -rf "${home_socket%/*}"

# The module alone, as after a purge of keychaind: the group is missing.
umount /etc/group
mount --bind "$work/group-without" /etc/group
as_user mkdir -p -m 700 "${home_socket%/*}"
listen "$home_socket" "${become_user[@]}" /usr/bin/python3 "$work/listener.py" "$home_socket"
check_equal "without the group, the login succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check_equal "without the group, a change of the password succeeds" \
    "$(printf '%s\n' "the first password" "the second" | timeout 60 "$work/login" "$work/pam.d" login "$user" change)" \
    "change=0"
printf %s "the first password" >"$work/account"
check_equal "without the group, no process hears the password" "$(<"$work/heard")" listening
service=none said_by log_in "the first password" "${whole[@]}" >/dev/null
check_equal "control: without the group, but with group=none, the listener hears it" "$(<"$work/heard")" \
    $'listening\nheard 2064'
stop_listening "$home_socket"
umount /etc/group
mount --bind "$work/group" /etc/group
rm -rf "$XDG_DATA_HOME/keychaind"

# systemd listens at the user's path and starts keychaind for a login.
chmod 2755 "$work/system/bin/keychaind"
unset login_clock
"${become_user[@]}" /usr/bin/python3 "$work/manager.py" "$work/keychaind" --verbose \
    >"$work/manager" 2>>"$work/keychaind.log" &
daemon_pid=$!
eventually listens_at "$home_socket"
check_equal "a login through systemd's socket succeeds" "$(said_by log_in "the first password" "${whole[@]}")" "$all_well"
check "a login through systemd's socket starts keychaind" eventually grep -q started "$work/manager"
check_equal "a login through systemd's socket unlocks the keychain" "$(look_up kept)" "of the first day"
stop_user_daemon
