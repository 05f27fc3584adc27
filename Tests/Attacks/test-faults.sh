# shellcheck shell=bash disable=SC2154
# A disk that fails at the Nth read, write, sync, rename, …: a sample. `make proof PROOF=faults` tries all.

own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
if /usr/bin/python3 -B "$project/Tests/Faults/faults.py" "$KEYCHAIND" "$work/faults.so" "$work" --every 40 \
    >"$work/log"; then
    pass "$(tail -n 1 "$work/log")"
else
    fail "$(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
fi
