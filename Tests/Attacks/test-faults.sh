# shellcheck shell=bash disable=SC2154
# A disk that fails at the Nth read, write, sync, rename, …: a sample, which SEED chooses. `make proof PROOF=faults`
# tries all.

own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
mkdir "$work/sample"
if /usr/bin/python3 -B "$project/Tests/Faults/faults.py" "$KEYCHAIND" "$work/faults.so" "$work/sample" \
    --every "${EVERY:-150}" --seed "${SEED:-0}" >"$work/log"; then
    pass "the sample of SEED=${SEED:-0}: $(tail -n 1 "$work/log")"
else
    fail "the sample of SEED=${SEED:-0}: $(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
fi
