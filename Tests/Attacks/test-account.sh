# shellcheck shell=bash disable=SC2154,SC1091
# An installed keychaind, and a new account with the number and the name of a deleted one.

source "$scripts/support.sh"
attack_in_clean_root account.sh
