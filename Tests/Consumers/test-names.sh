# shellcheck shell=bash disable=SC1091,SC2154
# A package that depends on a path, whose targets have names that those of ours could have, with a wrapper in between.
source "$scripts/consumers.sh"

consumer Names
check_equal "the program stores a password" "$("$program" store)" "stored"
check_equal "the program reads it through the wrapper" "$("$program" read)" "correct horse"
check_equal "canImport finds Security only where the package depends on it" "$("$program" modules)" "false false"
check "the tests of the package pass" swift_package test Names
