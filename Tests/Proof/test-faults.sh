# shellcheck shell=bash disable=SC2154
# A disk that fails at the Nth read, write, sync, truncation, rename, unlink, open or sync of a folder, for each N until
# none fails, in each of five ways; and all states of the folder that a power loss can leave of a deletion.

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
if /usr/bin/python3 -B "$project/Tests/Faults/faults.py" "$KEYCHAIND" "$work/faults.so" "$work" | tee "$work/log"; then
    pass "$(tail -n 1 "$work/log")"
else
    fail "$(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
fi
