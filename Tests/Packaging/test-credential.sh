# shellcheck shell=bash disable=SC2154
# keychainctl credential as the source of LoadCredential=, with a real user manager.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
status=0
in_user_manager credential-session.sh "$prefix" || status=$?
if [[ $status -eq 77 ]]; then
    skip "in a session: $(tail -n 1 "$work/manager.log")"
    exit 0
fi
said() { sed -n "s/^$1=//p" "$work/manager.log"; }
check_equal "a unit gets the bytes of its secret" "$(said given)" ' t h e w o r d \0 \n'
check_equal "another unit gets an empty one" "$(said stranger)" 0
check_match "keychainctl names it" "$(said refused)" 'stranger.service'
check_equal "Ctrl-C ends it" "$(said ended)" 5
check_equal "and removes the socket" "$(said removed)" yes
check_equal "a socket of systemd's serves, too" "$(said activated)" ' t h e w o r d \0 \n'
[[ $status -eq 0 ]] || fail "in a session: $(tail -n 5 "$work/manager.log")"
