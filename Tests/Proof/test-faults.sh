# shellcheck shell=bash disable=SC2154
# A disk that fails at the Nth read, write, sync, truncation, rename, unlink, open or sync of a folder, for each N until
# none fails, in each of six ways; and all states of the folder that a power loss can leave of a deletion.

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
own_home
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
# Each scenario has a bus of its own, so that as many run at a time as there are processors.
bus_configuration | sed "s|<listen>.*</listen>|<listen>unix:tmpdir=$work</listen>|" >"$work/bus.conf"
faults() { # NAME OPTION...
    mkdir "$work/$1"
    dbus-run-session --config-file="$work/bus.conf" -- /usr/bin/python3 -B "$project/Tests/Faults/faults.py" \
        "$KEYCHAIND" "$work/faults.so" "$work/$1" "${@:2}" >"$work/$1.log" 2>&1 || true
    echo "$1: $(tail -n 1 "$work/$1.log")"
}
faults power --power
scenarios=$(/usr/bin/python3 -B "$project/Tests/Faults/faults.py" --scenarios)
for scenario in $scenarios; do
    while (($(jobs -pr | wc -l) >= $(nproc))); do wait -n; done
    faults "$scenario" --only "$scenario" &
done
wait
for name in power $scenarios; do
    if grep -q ' 0 failures$' "$work/$name.log"; then
        pass "$name: $(tail -n 1 "$work/$name.log")"
    else
        fail "$name: $(grep '^FAILED' "$work/$name.log" || tail -n 3 "$work/$name.log")"
    fi
done
