# shellcheck shell=bash disable=SC2154,SC2119
# What was typed at a login and is not the account's password does not become the keychain's, however the login goes on; a password
# that is does, once the person has typed it again.

own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
make_account "the right password"
user_environment
start_user_bus

make_person

# asked: for which passwords, a word a dialog.
asked() {
    sed -e 's/.*is not the one that you logged in with.*/former/' -e 's/.*Enter your login password.*/login/' \
        -e 's/.*Unlock the keychain.*/keychain/' "$work/dialogs" | tr '\n' ' '
}

# Whether keychaind's line of auth is behind what lets the user in with a finger, or reached however that goes.
stack() { # NAME LINE...
    printf '%s\n' "${@:2}" >"$work/pam.d/$1"
}
finger="auth sufficient $work/pam_account.so finger=$work/finger"
account="auth required $work/pam_account.so account=$work/account"
ours="auth optional $module runtime=$runtime"
end=("account required $work/pam_account.so account=$work/account" "session optional $module runtime=$runtime")
stack modules "$finger" "$account"
stack behind "$finger" "$account" "$ours" "${end[@]}"
stack reached "auth substack $work/pam.d/modules" "$ours" "${end[@]}"

said_by() { "$@" | tr '\n' ' '; }
log_says() { grep -q "$1" "$work/keychaind.log"; }
restart() {
    [[ -z $daemon_pid ]] || stop_user_daemon
    rm -f "$work/finger" "$work/keychaind.log"
    start_user_daemon --verbose --prompters pinentry
}

restart
check_equal "the first login" "$(said_by log_in "the right password" authenticate open close)" "authenticate=0 open=0 close=0 "
check "makes the keychain" eventually test -e "$XDG_DATA_HOME/keychaind/login.keychain"
store kept "of the first day"

retry=(attempt "finger:$work/finger" authenticate open close)
all_well="attempt=7 finger:$work/finger=0 authenticate=0 open=0 close=0 "
restart
check_equal "reached: a mistake, then a finger" "$(service=reached said_by log_in "tyqo" "${retry[@]}")" "$all_well"
types "the right password"
check_equal "reached: opens nothing, and is forgotten" "$(look_up kept)" "of the first day"
check_equal "reached: so that the keychain's password is asked for" "$(asked)" "keychain "

restart
check_equal "behind: a mistake, then a finger" "$(service=behind said_by log_in "tyqo" "${retry[@]}")" "$all_well"
check "behind: is not the keychain's password" eventually log_says "another password than the account"
types "the right password" "the right password" "the right password" "the right password"
check_equal "behind: which is asked for" "$(look_up kept)" "of the first day"
check "behind: as is that of the login" eventually log_says "The keychain keeps its password"
check_equal "behind: in vain" "$(asked)" "former login login login "

for service in behind reached; do
    restart
    check_equal "$service: the right password" "$(said_by log_in "the right password" authenticate open close)" \
        "authenticate=0 open=0 close=0 "
    types ""
    check_equal "$service: opens the keychain as ever" "$(look_up kept)" "of the first day"
    check_equal "$service: without a dialog" "$(asked)" ''
done
service=login

printf %s "the new password" >"$work/account"
restart
check_equal "a password that root has set" "$(said_by log_in "the new password" authenticate open close)" \
    "authenticate=0 open=0 close=0 "
check "is another than the keychain's" eventually log_says "another password than the account"
types "the right password" "the new password"
check_equal "which is asked for" "$(look_up kept)" "of the first day"
check "and replaced" eventually log_says "has the password of the account again"
check_equal "once both were typed" "$(asked)" "former login "
restart
log_in "the new password" authenticate open close >"$work/said"
types ""
check_equal "the next login opens it" "$(look_up kept)" "of the first day"
check_equal "without a dialog" "$(asked)" ''
stop_user_daemon
