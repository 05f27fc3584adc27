# shellcheck shell=bash disable=SC2154
# The real logind, with a user who lingers: the screen and the end of the last session lock the keychain, whichever
# session came first. Each of ten rounds is a race, since logind tells of several changes at once.

# shellcheck source=Tests/Proof/machine.sh
source "$scripts/machine.sh"

unpack "$(image bare)"
install_packages keychaind libpam-keychaind >"$work/installed" 2>&1
mkdir -p "$machine/var/lib/systemd/linger" "$machine/home/anna/.config/keychaind"
touch "$machine/var/lib/systemd/linger/anna"
printf '[lock]\non-screen-lock = true\non-session-end = true\n' >"$machine/home/anna/.config/keychaind/config.toml"
inside chown -R anna: /home/anna
boot

is_locked() {
    as_anna busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
        org.freedesktop.Secret.Collection Locked | grep -q "b $1"
}
login1=org.freedesktop.login1
sessions() { as_root loginctl list-sessions --no-legend | awk '$3 == "anna" { print $1 }' | sort; }
display() { as_root loginctl show-user anna --property=Display --value; }
is_display() { [[ $(display) == "$1" ]]; }

# begin_session: logs anna in, and leaves her there; the session is $session.
begin_session() {
    local before
    before=$(sessions)
    logged_in "exec sleep infinity" &
    eventually has_begun "$before"
    session=$(comm -13 <(echo "$before") <(sessions) | head -n 1)
}
has_begun() { [[ -n $(comm -13 <(echo "$1") <(sessions)) ]]; }
end_session() {
    as_root loginctl terminate-session "$1"
    eventually has_no_session "$1"
}
has_no_session() { ! sessions | grep -qx "$1"; }
# set_screen SESSION true|false: what a screen locker tells logind.
set_screen() {
    local path
    path=$(as_root busctl call $login1 /org/freedesktop/login1 $login1.Manager GetSession s "$1" | cut -d'"' -f2)
    as_root busctl call $login1 "$path" $login1.Session SetLockedHint b "$2"
}

rounds=10
screens=0 later=0 ends=0
for ((round = 0; round < rounds; round++)); do
    begin_session
    first=$session
    eventually is_locked false
    set_screen "$first" true
    if eventually is_locked true; then screens=$((screens + 1)); fi
    set_screen "$first" false

    # The login of a second session unlocks; then it becomes the display session.
    begin_session
    second=$session
    eventually is_locked false
    end_session "$first"
    eventually is_display "$second"
    set_screen "$second" true
    if eventually is_locked true; then later=$((later + 1)); fi
    set_screen "$second" false

    logged_in true
    eventually is_locked false
    end_session "$second"
    if eventually is_locked true; then ends=$((ends + 1)); fi
done
check_equal "the screen of the first session locks" "$screens of $rounds" "$rounds of $rounds"
check_equal "the screen of a session that becomes the display session later locks" "$later of $rounds" \
    "$rounds of $rounds"
check_equal "the end of the last session locks" "$ends of $rounds" "$rounds of $rounds"
check "her manager has been there all the time" as_anna systemctl --user is-active keychaind.service
