# shellcheck shell=bash disable=SC2154
# What calls take up to 100,000 items, and one program beside another's 1,024 calls; fails where an answer is wrong.

program=$("${SWIFT:-swift}" build -c release --show-bin-path)/KeychaindServiceBenchmark
check "the benchmark is built" scripts/build -c release --product KeychaindServiceBenchmark
for figures in full floods; do
    status=0
    "$program" "--$figures" >"$work/$figures" 2>&1 || status=$?
    cat "$work/$figures"
    # With 1 it tells of missed bounds, which depend on the machine.
    if [[ $status -le 1 ]]; then
        pass "$figures: $(tail -n 1 "$work/$figures")"
    else
        fail "$figures: $(tail -n 1 "$work/$figures")"
    fi
done
