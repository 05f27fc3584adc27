# shellcheck shell=bash disable=SC1091,SC2154
# A package of libraries that depend on one another, and tests that depend on two of them; a warning is an error.
source "$scripts/consumers.sh"

place Layers
if swift_package test Layers -Xswiftc -warnings-as-errors >"$work/log" 2>&1; then
    pass "tests of two layers build and pass"
else
    fail "tests of two layers: $(grep --max-count=5 'error: ' "$work/log" || tail "$work/log")"
fi
