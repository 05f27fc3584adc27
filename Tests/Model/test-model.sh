# shellcheck shell=bash disable=SC2154,SC1091
# Random sequences against a model. SEQUENCES, STEPS and SEED choose them; a failure prints its shortest sequence.

own_home
own_bus
source "$project/Tests/Attacks/support.sh"
scripts=$project/Tests/Attacks prompter no

# A system bus with a mock of logind, and a login session on a display.
machine_pid='' logind_pid=''
end_machine() {
    local pid
    for pid in $logind_pid $machine_pid; do kill -TERM "$pid" 2>/dev/null || true; done
    stop_prompter
    stop_everything
}
trap end_machine EXIT
own_machine "$(id -u)" "$(id -un)"
cc -shared -fPIC -O1 -o "$work/faults.so" "$project/Tests/Faults/faults.c" -ldl
export FAULTS=$work/faults.so PYTHONPATH=$project/Tests/Attacks:$project/Tests/Faults

if /usr/bin/python3 "$scripts/model.py" "${SEED:-1}" "${SEQUENCES:-25}" "${STEPS:-25}" >"$work/result" 2>&1; then
    pass "$(tail -n 1 "$work/result")"
else
    tail -n 100 "$work/result"
    if [[ -e $work/failure ]]; then sed 's/^/first: /' "$work/failure"; fi
    fail "the daemon and the model differ: $(tail -n 1 "$work/failure" || tail -n 1 "$work/result")"
fi
