# shellcheck shell=bash disable=SC2154,SC1091
# Random sequences against a model. SEQUENCES, STEPS and SEED choose them; a failure prints its shortest sequence.

own_home
own_bus
source "$project/Tests/Attacks/support.sh"
scripts=$project/Tests/Attacks prompter no

# A system bus with a mock of logind, and a login session on a display.
cat >"$work/machine.conf" <<XML
<busconfig>
  <type>system</type>
  <listen>unix:path=$work/machine</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_destination="*"/> <allow receive_sender="*"/>
  </policy>
</busconfig>
XML
dbus-daemon --config-file="$work/machine.conf" --nofork 2>"$work/machine.log" &
machine_pid=$!
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/machine
eventually test -S "$work/machine"
/usr/bin/python3 -m dbusmock --template logind >"$work/logind.log" 2>&1 &
logind_pid=$!
end_machine() {
    kill -TERM "$logind_pid" "$machine_pid" 2>/dev/null || true
    stop_prompter
    stop_everything
}
trap end_machine EXIT
logind() { # METHOD ARGUMENT...
    gdbus call --system --dest org.freedesktop.login1 --object-path /org/freedesktop/login1 --method "$@" >"$work/said"
}
eventually logind org.freedesktop.DBus.Peer.Ping
logind org.freedesktop.DBus.Mock.AddMethod org.freedesktop.login1.Manager GetUser u o \
    "ret = '/org/freedesktop/login1/user/%d' % args[0]"
logind org.freedesktop.DBus.Mock.AddSession c1 seat0 "$(id -u)" "$(id -un)" true
export XDG_SESSION_ID=c1

if /usr/bin/python3 "$scripts/model.py" "${SEED:-1}" "${SEQUENCES:-25}" "${STEPS:-25}" >"$work/result" 2>&1; then
    pass "$(tail -n 1 "$work/result")"
else
    tail -n 100 "$work/result"
    fail "the daemon and the model differ: $(grep -E '^[A-Za-z.]*(Error|Exception|Refused)' "$work/result" | tail -n 1)"
fi
