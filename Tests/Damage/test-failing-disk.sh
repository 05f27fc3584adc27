# shellcheck shell=bash disable=SC2154
# A disk that fails within a restore, a salvage or a deletion, or that leaves unknown whether a change is stored.

own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
for script in failed_swap:"a restore and a salvage that fail" refused_deletion:"a deletion without room for a name" \
    unknown_change:"changes of which it is unknown whether they are stored"; do
    mkdir "$work/${script%%:*}"
    if /usr/bin/python3 -B "$project/Tests/Faults/${script%%:*}.py" "$KEYCHAIND" "$work/faults.so" \
        "$work/${script%%:*}" >"$work/log"; then
        pass "${script#*:}: $(tail -n 1 "$work/log")"
    else
        fail "${script#*:}: $(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
    fi
done
