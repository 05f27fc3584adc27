# shellcheck shell=bash disable=SC1091,SC2154
# A package that depends on a path without traits: passwords alone, and no other package.
source "$scripts/consumers.sh"

consumer Passwords
check "no other package is fetched" test ! -e "$packages/Passwords/Package.resolved"
check_equal "the program stores a password" "$("$program" store)" "0"
check_equal "the program reads it in a context" "$("$program" read)" "correct horse"
check_equal "the program removes its rights" "$("$program" rights)" "removed"
for class in key certificate identity; do
    check_equal "a new $class is not implemented" "$("$program" "store-$class")" "-4"
done
check_equal "an identity to find is not implemented" "$("$program" find-identity)" "-4"
check_equal "a key to find is one item among others" "$("$program" find-key)" "-25300"
check_equal "a condition on certificates is invalid" "$("$program" find-subject)" "-50"
