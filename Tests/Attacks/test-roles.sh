# shellcheck shell=bash disable=SC2154,SC1091
# A program in a sandbox, with the whole bus, in place of the desktop's programs that serve keychaind.

own_home
own_bus
source "$scripts/support.sh"
mkdir -p "$HOME/.config/keychaind"
XDG_CURRENT_DESKTOP=KDE start_daemon --verbose --prompters kde,gcr
attack roles "$work/keychaind.log"
