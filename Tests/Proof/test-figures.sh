# shellcheck shell=bash disable=SC2154
# What calls take up to 100,000 items, and one program beside another's 1,024 calls; fails where an answer is wrong.

program=$("${SWIFT:-swift}" build -c release --show-bin-path)/KeychaindServiceBenchmark
check "the benchmark is built" "${SWIFT:-swift}" build -c release --product KeychaindServiceBenchmark
for figures in full floods; do
    if "$program" "--$figures" >"$work/$figures" 2>&1; then
        cat "$work/$figures"
        pass "$figures: $(grep -c . "$work/$figures") lines of figures"
    else
        fail "$figures: $(tail -n 20 "$work/$figures")"
    fi
done
