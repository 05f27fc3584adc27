# shellcheck shell=bash disable=SC2154,SC2119,SC2034
# Keychains from before the domain move into it once, and sealed copies go back to the home folder. Links in the user's
# folders are not followed.

[[ $EUID -eq 0 ]] || { skip "the domain needs root" && return 0; }
own_mounts
own_home
# shellcheck source=Tests/Session/accounts.sh
source "$scripts/accounts.sh"
make_account "the password"
user_environment
start_user_bus
make_domain
home_folder=$XDG_DATA_HOME/keychaind
domain_folder=/var/lib/keychaind/$user_id/data
backup=$home_folder/backup/login.keychain
log_says() { grep -q "$1" "$work/keychaind.log"; }
# shellcheck disable=SC2317  # start_user_daemon calls it; what is tested here needs no logins
hears_logins() { true; }
start_unlocked() { start_user_daemon --verbose --unlock-fd 7 7< <(printf "the password"); }

chmod 755 "$work/system/bin/keychaind"
start_unlocked
store kept "from before"
stop_user_daemon
check "without the domain, keychains are in the home folder" test -e "$home_folder/login.keychain"
as_user ln -s "$domain_folder/state" "$home_folder/linked.keychain"
as_user mkfifo "$home_folder/pipe.keychain"

# Another process uses the old folder: nothing is moved, and no second login keychain is created.
chmod 2755 "$work/system/bin/keychaind"
exec {lock}<"$home_folder/lock"
flock "$lock"
status=$(status_of "${become_user[@]}" "$work/keychaind")
check_match "while another process uses the old folder, keychaind does not start ($status)" "$(<"$work/said")" "another process uses"
check "while another process uses the old folder, no keychain is created" test ! -e "$domain_folder/login.keychain"
flock --unlock "$lock"
exec {lock}<&-

start_unlocked
check "the first start in the domain moves the keychains" eventually log_says "Keychains were moved"
check_equal "the moved keychain has its items" "$(look_up kept)" "from before"
check "the keychain is in the domain's folder" test -e "$domain_folder/login.keychain"
check "the keychain is no longer in the home folder" test ! -e "$home_folder/login.keychain"
check "a file in the home folder names the new folder" grep -q "$domain_folder" "$home_folder/MOVED.txt"
check "the move leaves links in place" test -L "$home_folder/linked.keychain"
check "the move leaves pipes in place" test -p "$home_folder/pipe.keychain"
check "the move copies neither links nor pipes" test ! -e "$domain_folder/linked.keychain" -a ! -e "$domain_folder/pipe.keychain"
check_equal "the user's programs cannot read the moved keychain" "$(as_user cat "$domain_folder/login.keychain" 2>/dev/null | wc -c)" 0
store more "since then"
stop_user_daemon

check "a clean end writes a backup to the home folder" test -f "$backup"
check_equal "only the user can read the backup" "$(stat -c '%u %g %a' "$backup" "${backup%/*}" | tr '\n' ' ')" \
    "$user_id $user_id 600 $user_id $user_id 700 "
check_equal "the backup opens only with a password" "$(/usr/bin/python3 -B Tests/Scripts/slots.py "$backup" | cut -c1-2)" '1 '

# A file placed into the home folder later is not moved, and backups do not follow links.
as_user cp "$backup" "$home_folder/planted.keychain"
as_user mv "$home_folder/backup" "$home_folder/backup-away"
as_user ln -s "$domain_folder" "$home_folder/backup"
before=$(sha256sum "$domain_folder/index.key")
: >"$work/keychaind.log"
start_unlocked
check "a file placed later is not moved" test ! -e "$domain_folder/planted.keychain"
store third "third"
stop_user_daemon
check "a link instead of the backup folder is refused" log_says "has no new backup"
check_equal "a refused backup leaves the domain's files unchanged" "$(sha256sum "$domain_folder/index.key")" "$before"
check_equal "a refused backup leaves no copy in the domain" "$(find "$domain_folder" -name 'backup-*' | wc -l)" 0
as_user rm "$home_folder/backup"
start_unlocked
store fourth "fourth"
stop_user_daemon
check "without the link, backups are written again" test -f "$backup"
