# shellcheck shell=bash disable=SC1091,SC2154
# A program whose settings name the password to read, beside swift-configuration; by version.
source "$scripts/consumers.sh"

consumer Configuration
check_equal "the program reads the password of its settings" \
    "$(PASSWORD_SERVICE=mail "$program")" "mail: correct horse"
