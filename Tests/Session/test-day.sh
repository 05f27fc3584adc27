# shellcheck shell=bash disable=SC2154,SC2119
# A day: from the first login of a fresh account to the day after root changed its password. A program stores three
# secrets in the morning and reads the same bytes at the end. Every step is checked from outside of the daemon.

own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
make_account "in the morning"
user_environment

# The machine: a bus with a scripted logind, and a display whose user types the lines of a file.
manager_pid='' logind_pid='' machine_pid=''
end_day() {
    local pid
    for pid in $manager_pid $daemon_pid $logind_pid $machine_pid; do kill -TERM "$pid" 2>/dev/null || true; done
    stop_everything
}
trap end_day EXIT
own_machine "$user_id" "$user"

make_person
as_user mkdir -p "$HOME/config/keychaind"
export XDG_CONFIG_HOME=$HOME/config
printf '[lock]\non-screen-lock = true\n' | as_user tee "$XDG_CONFIG_HOME/keychaind/config.toml" >"$work/said"

install -m 755 "$KEYCHAIND" "$work/keychaind"
start_user_bus
start_manager() {
    : >"$work/manager.log"
    "${become_user[@]}" /usr/bin/python3 "$work/manager.py" "$work/keychaind" --verbose --prompters pinentry \
        >"$work/manager.log" 2>>"$work/keychaind.log" &
    manager_pid=$!
    eventually hears_logins
}
log_the_user_in() { # PASSWORD
    check_equal "$1: the login succeeds" "$(log_in "$2" authenticate account establish open | tr '\n' ' ')" \
        "authenticate=0 account=0 establish=0 open=0 "
    daemon_pid=$(sed -n 's/^started //p' "$work/manager.log" | tail -n 1)
}
log_the_user_out() {
    local manager=$manager_pid
    manager_pid='' daemon_pid=''
    kill -TERM "$manager"
    check "$1: the logout succeeds" wait "$manager"
}
is_unlocked() { [[ $(is_locked) == false ]]; }
is_locked_now() { [[ $(is_locked) == true ]]; }
ask() { as_user env LD_PRELOAD="$clock" /usr/bin/python3 "$work/browser.py" "$@" 2>&1 || true; }

start_manager
log_the_user_in "a fresh account" "in the morning"
check "the first login unlocks the keychain" eventually is_unlocked
check_equal "a browser stores its secrets" "$(ask store)" "stored"
stored=$(ask read)
check_match "a browser reads them" "$stored" '^[0-9a-f]{64} [0-9a-f]{64} [0-9a-f]{64}$'
check_equal "there was no dialog" "$(dialogs)" 0

logind /session/c1 org.freedesktop.login1.Session.Lock >/dev/null
check "a locked screen locks the keychain" eventually is_locked_now
check_equal "a browser gets IsLocked" "$(ask read)" "org.freedesktop.Secret.Error.IsLocked"
logind /session/c1 org.freedesktop.login1.Session.Unlock >/dev/null
types "in the morning"
check_equal "after the screen is unlocked, a browser can unlock the keychain" "$(ask unlock)" "unlocked"
check_equal "unlocking took one dialog" "$(dialogs)" 1
check_equal "the browser reads its secrets again" "$(ask read)" "$stored"

check_equal "passwd changes the account's password" \
    "$(printf '%s\n' "in the morning" "at noon" | act_as_login login "$user" change)" "change=0"
check "the keychain has the new password" eventually grep -q "have the account's new password" "$work/keychaind.log"

log_the_user_out "in the evening"
start_manager
log_the_user_in "the next day, with the new password" "at noon"
check "the next login unlocks the keychain" eventually is_unlocked
check_equal "the next day, the browser reads its secrets" "$(ask read)" "$stored"

log_the_user_out "the next evening"
printf %s "by root" >"$work/account"
start_manager
log_the_user_in "after root has changed the password" "by root"
check "after root changed the password, the keychain still has the old one" eventually grep -q "another password than the account" "$work/keychaind.log"
types "at noon" "by root"
check_equal "unlocking asks for the old and the new password" "$(ask unlock)" "unlocked"
check_equal "each password took one dialog" "$(dialogs)" 2
check_equal "after the change, the browser reads its secrets" "$(ask read)" "$stored"
log_the_user_out "the third evening"
start_manager
log_the_user_in "the day after" "by root"
check "the day after, the login unlocks the keychain" eventually is_unlocked
check_equal "the day after, there is no dialog" "$(dialogs)" 2
check_equal "at the end the secrets are the same bytes" "$(ask read)" "$stored"
log_the_user_out "the last evening"
