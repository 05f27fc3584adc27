# shellcheck shell=bash disable=SC1091,SC2154
# Tokens signed by a key that stays in the daemon, and verified by jwt-kit, and the other way; by version.
source "$scripts/consumers.sh"

consumer JWT
check_equal "the key does not leave the daemon" "$("$program" export)" "not extractable"
"$program" sign anna >"$work/token"
check_equal "jwt-kit accepts the token" "$("$program" verify <"$work/token")" "anna"
check_equal "jwt-kit refuses it with another claim" "$(sed 's/\.[^.]*\./.eyJzdWIiOiJib2IifQ./' "$work/token" |
    "$program" verify)" "refused"
check_equal "the keychain accepts a token of jwt-kit" "$("$program" back)" "accepted"
