# shellcheck shell=bash disable=SC2154
# keychainctl switch in a session with a real user manager, bus and gnome-keyring.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
status=0
in_user_manager switch-session.sh "$prefix" || status=$?
if [[ $status -eq 77 ]]; then
    skip "in a session: $(tail -n 1 "$work/manager.log")"
    exit 0
fi
said() { sed -n "s/^$1=//p" "$work/manager.log"; }
check_match "gnome-keyring is the provider" "$(said provider)" gnome-keyring-daemon
check_match "the switch is refused before an import" "$(said refused)" \
    '^7: .*gnome-keyring: its 1 item has not been imported. Run keychainctl import first'
check_equal "a refused switch changes nothing" "$(said untouched)" yes
check_match "after an import it switches and hands over" "$(said on)" '^0: keychaind provides the Secret Service now'
check_equal "keychaind owns the name" "$(said handed-over)" /run/installed/bin/keychaind
check_match "kwalletd6 calls gnome-keyring" "$(said wallets-before)" gnome-keyring-daemon
check_equal "kwalletd6 is started anew, and calls keychaind" "$(said wallets)" /run/installed/bin/keychaind
check_equal "systemd has started it" "$(said unit)" active
check_equal "status finds nothing to mend" "$(said status)" 0
check_equal "gnome-keyring's unit stays off" "$(said other-unit)" inactive
check_equal "systemd starts keychaind at the next login" "$(said enabled)" enabled
check_equal "another gnome-keyring waits for the name" "$(said waits)" yes
check_equal "a restart keeps the name" "$(said kept)" /run/installed/bin/keychaind
check_equal "and ends the one that waited" "$(said ended)" yes
check_equal "without keychaind's program gnome-keyring's unit starts again" "$(said uninstalled)" active
check_match "doctor names a keychain that cannot be read, and what to do" "$(said doctor)" \
    '^2: ! .*“broken” has a problem: .*keychainctl restore'
check_equal "it goes back" "$(said off)" 0
check_equal "all files are as before" "$(said restored)" yes
check_equal "gnome-keyring has its item" "$(said lookup)" "of gnome-keyring"
check_match "gnome-keyring is the provider again" "$(said back)" gnome-keyring-daemon
[[ $status -eq 0 ]] || fail "in a session: $(tail -n 5 "$work/manager.log")"
