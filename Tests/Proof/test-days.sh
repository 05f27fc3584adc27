# shellcheck shell=bash disable=SC2154
# Weeks of use in minutes: DAYS days (24), with the calls of SEED (1).

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
if /usr/bin/python3 -B "$scripts/days.py" "$KEYCHAIND" "$work/faults.so" "$work" --days "${DAYS:-24}" \
    --seed "${SEED:-1}" | tee "$work/report"; then
    pass "$(tail -n 1 "$work/report")"
else
    fail "$(grep '^FAILED' "$work/report" || tail -n 3 "$work/report")"
fi
