# shellcheck shell=bash disable=SC2154,SC1091
# A restart and a stop of an installed keychaind by systemd, attacked by the user's programs.

source "$scripts/support.sh"
made=()
make_groups
export groups="${made[*]}"
attack_in_clean_root restart.sh
remove_groups
