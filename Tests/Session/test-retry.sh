# shellcheck shell=bash disable=SC2154,SC2119
# A mistyped login password does not become the keychain's password, however the login continues. A right one does,
# after the user typed it again.

own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
make_account "the right password"
user_environment
start_user_bus

make_person

# asked: prints the kinds of passwords that dialogs asked for, one word each.
asked() {
    sed -e 's/.*is not the one that you logged in with.*/former/' -e 's/.*Enter your login password.*/login/' \
        -e 's/.*to unlock the keychain.*/keychain/' "$work/dialogs" | tr '\n' ' '
}

# Whether keychaind's auth line is behind the module for the finger, or reached in any case.
stack() { # NAME LINE...
    printf '%s\n' "${@:2}" >"$work/pam.d/$1"
}
finger="auth sufficient $work/pam_account.so finger=$work/finger"
account="auth required $work/pam_account.so account=$work/account"
ours="auth optional $module runtime=$runtime group=none"
end=("account required $work/pam_account.so account=$work/account" "session optional $module runtime=$runtime group=none")
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
check_equal "the first login succeeds" "$(said_by log_in "the right password" authenticate open close)" "authenticate=0 open=0 close=0 "
check "the first login creates the keychain" eventually test -e "$XDG_DATA_HOME/keychaind/login.keychain"
store kept "of the first day"

retry=(attempt "finger:$work/finger" authenticate open close)
all_well="attempt=7 finger:$work/finger=0 authenticate=0 open=0 close=0 "
restart
check_equal "reached: a typing mistake and then a finger log in" "$(service=reached said_by log_in "tyqo" "${retry[@]}")" "$all_well"
types "the right password"
check_equal "reached: the keychain opens with its own password" "$(look_up kept)" "of the first day"
check_equal "reached: one dialog asks for the keychain's password" "$(asked)" "keychain "

restart
check_equal "behind: a typing mistake and then a finger log in" "$(service=behind said_by log_in "tyqo" "${retry[@]}")" "$all_well"
check "behind: the mistake is not the keychain's password" eventually log_says "another password than the account"
types "the right password" "the right password" "the right password" "the right password"
check_equal "behind: the keychain opens with its own password" "$(look_up kept)" "of the first day"
check "behind: the keychain keeps its password" eventually log_says "The keychain keeps its password"
check_equal "behind: dialogs ask for both passwords" "$(asked)" "former login login login "

for service in behind reached; do
    restart
    check_equal "$service: the right password logs in" "$(said_by log_in "the right password" authenticate open close)" \
        "authenticate=0 open=0 close=0 "
    types ""
    check_equal "$service: the right password opens the keychain" "$(look_up kept)" "of the first day"
    check_equal "$service: the right password takes no dialog" "$(asked)" ''
done
service=login

printf %s "the new password" >"$work/account"
restart
check_equal "a login with a password that root set succeeds" "$(said_by log_in "the new password" authenticate open close)" \
    "authenticate=0 open=0 close=0 "
check "the password that root set is not the keychain's" eventually log_says "another password than the account"
types "the right password" "the new password"
check_equal "the keychain's old password opens it" "$(look_up kept)" "of the first day"
check "the keychain's password is replaced" eventually log_says "has the password of the account again"
check_equal "dialogs ask for the old and the new password" "$(asked)" "former login "
restart
log_in "the new password" authenticate open close >"$work/said"
types ""
check_equal "the next login opens the keychain" "$(look_up kept)" "of the first day"
check_equal "the next login takes no dialog" "$(asked)" ''
stop_user_daemon
