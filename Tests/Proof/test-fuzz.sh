# shellcheck shell=bash disable=SC2154
# Every reader of hostile bytes under libFuzzer: a minute each (FUZZ_SECONDS), or EXECUTIONS inputs each.

if [[ -z ${EXECUTIONS:-} ]]; then export FUZZ_SECONDS=${FUZZ_SECONDS:-60}; fi
export FUZZ_JOBS=${FUZZ_JOBS:-$(nproc)}
scripts/fuzz "${EXECUTIONS:--1}" >"$work/report" 2>"$work/build" || true
[[ $(grep -c ' edges' "$work/report") -eq $(FUZZ_BUILT=1 scripts/fuzz list | wc -l) ]] || fail "$(tail -n 20 "$work/build")"
# A reader has one line; what its input has done follows.
while IFS= read -r line; do
    case $line in
        *' FAILED') fail "$line" ;;
        *' edges') pass "$line" ;;
        *) echo "$line" ;;
    esac
done <"$work/report"
