# shellcheck shell=bash disable=SC2154
# What calls cost, in instructions, allocations, syncs, written bytes and messages, beside thresholds.json. UPDATE=yes
# takes over what was measured.

own_home
own_bus
measure() { # NAME COMMAND...
    /usr/bin/python3 "$scripts/thresholds.py" "${@:2}" >"$work/$1.json" 2>"$work/$1.log" || {
        fail "$1: $(tail -n 3 "$work/$1.log")"
        return 1
    }
    if [[ ${UPDATE:-} == yes ]]; then
        /usr/bin/python3 "$scripts/thresholds.py" update "$work/$1.json"
        pass "$1 is taken over"
    else
        local line
        while IFS= read -r line; do
            case $line in *": held") pass "${line%: held}" ;; *) fail "$line" ;; esac
        done < <(/usr/bin/python3 "$scripts/thresholds.py" compare "$work/$1.json")
    fi
}

# The daemon as valgrind runs it, which cannot read the debug information of Swift. The key derivation takes a while.
mkdir "$work/dumps"
objcopy --strip-debug "$KEYCHAIND" "$work/keychaind"
(cd "$work/dumps" && exec valgrind --tool=callgrind --instr-atstart=no --separate-threads=no \
    --callgrind-out-file="$work/dumps/callgrind.out" "$work/keychaind" --unlock --prompters none \
    < <(echo p) 2>"$work/valgrind.log") &
daemon_pid=$!
export daemon_pid
eventually owns_name "$daemon_pid"
measure count count "$work/dumps"
kill -TERM "$daemon_pid"
eventually has_ended "$daemon_pid"

strace --follow-forks --quiet=all --signal=none --trace=fsync,fdatasync,write,pwrite64,pwritev,writev,sendmsg,sendto \
    --output="$work/trace" "$KEYCHAIND" --unlock --prompters none < <(echo p) 2>"$work/keychaind.log" &
tracer_pid=$!
eventually owner
daemon_pid=$(owner)
measure trace trace "$work/trace"
kill -TERM "$daemon_pid"
eventually has_ended "$tracer_pid"
daemon_pid=''
