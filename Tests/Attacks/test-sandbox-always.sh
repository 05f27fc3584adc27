# shellcheck shell=bash disable=SC2154,SC1091
# "Always for This Program" in the dialogs of a program in a sandbox, by real bubblewrap.

own_home
own_bus
source "$scripts/support.sh"
start_daemon
# The first item; the second, with the choice; the sealed one; a rule; the question that it asks, with the choice; its
# removal.
prompter "password p" "always password p" "always password p" "password p" "always yes" "password p"
attack sandbox_always
labels=$(jq -r '."choice-label"' "$work/asked" | paste -sd,)
[[ $labels == "Always for This Program,Always for This Program,,,Always for This Program,"* ]] ||
    fail "the dialogs offered: $labels"
pass "the choice is offered where it can be taken"
