# shellcheck shell=bash disable=SC2154
# A disk that fails at the Nth read, write, sync, rename, …: a sample, and what has failed before.
# `make proof PROOF=faults` tries all.

own_home
own_bus
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
faults() { # NAME OPTION...
    mkdir "$work/$1"
    if /usr/bin/python3 -B "$project/Tests/Faults/faults.py" "$KEYCHAIND" "$work/faults.so" "$work/$1" "${@:2}" \
        >"$work/log"; then
        pass "$1: $(tail -n 1 "$work/log")"
    else
        fail "$1: $(grep '^FAILED' "$work/log" || tail -n 3 "$work/log")"
    fi
}
faults "a sample" --every 60
faults "a new file whose name is reported as failed" --only create-collection --operation rename --mode torn
faults "a file that cannot be opened in a salvage" --only salvage --operation open --mode fail --every 4
faults "a page that the disk does not return at first, in a salvage" \
    --only salvage --operation read --mode torn --up-to 12
faults "a look at the path of a keychain that fails" --only create --only change --operation stat --mode fail
faults "a look at the last backup that fails" --only back-up --operation stat --mode fail --up-to 45
faults "a crash within a restore or a salvage" --only restore-damaged --only salvage --operation rename --mode kill
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
