# shellcheck shell=bash disable=SC2154,SC1091
# keychaind as installed by an administrator, attacked by the user's programs.

source "$scripts/support.sh"
attack_in_clean_root domain.sh
