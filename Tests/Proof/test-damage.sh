# shellcheck shell=bash disable=SC2154
# Damaged, displaced and missing files and a full disk, on the built daemon.

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
check "the daemon keeps what is intact" "$here/run" Damage
