# shellcheck shell=bash disable=SC2154
# All Swift tests, and the processes that they start, with each sanitizer.

for sanitizer in address thread; do
    if scripts/sanitize "$sanitizer" >"$work/$sanitizer" 2>&1; then
        pass "$sanitizer: $(grep -E 'Test run with .* passed' "$work/$sanitizer" | tail -n 1)"
    else
        fail "$sanitizer: $(grep -E '(✘|Sanitizer:|^sanitize:|error:)' "$work/$sanitizer" | tail -n 40)"
    fi
done
