# shellcheck shell=bash
# Functions for the tests in the suites; sourced by run.
# shellcheck disable=SC2154  # run exports clock, here, project, results, test and work

report() { echo "$1 $test ${*:2}" | tee -a "$results"; }
pass() { report PASS "$@"; }
skip() { report SKIP "$@"; }
fail() { report FAIL "$@"; }

# check NAME COMMAND...: passes if the command succeeds; otherwise prints its output.
check() {
    if "${@:2}" >"$work/said" 2>&1; then pass "$1"; else fail "$1: $(<"$work/said")"; fi
}

# check_equal NAME ACTUAL EXPECTED
check_equal() { if [[ $2 == "$3" ]]; then pass "$1"; else fail "$1: got '$2', not '$3'"; fi; }

# check_match NAME TEXT PATTERN: passes if the text contains a match of the extended regular expression.
check_match() { if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1: no '$3' in '$2'"; fi; }

# check_hardened FOLDER PATH...: the installed programs and modules below the folder are hardened as Debian asks.
check_hardened() {
    local path elf
    for path in "${@:2}"; do
        elf=$(readelf --wide --file-header --dynamic --program-headers "$1/$path")
        check_match "$path: its addresses are random" "$elf" 'Type: +DYN'
        check_match "$path: its table of functions is read-only from the start" "$elf" 'GNU_RELRO'
        check_match "$path: it looks up functions at the start" "$elf" 'BIND_NOW|Flags: .*NOW'
        check_match "$path: its stack is not executable" "$elf" 'GNU_STACK +[0-9a-fx ]+ RW '
        check_equal "$path: it names no folder of libraries" "$(grep -E '\((RPATH|RUNPATH)\)' <<<"$elf" || true)" ''
    done
}

# report_steps FILE: reports each of its lines, `ok TITLE` or `not TITLE`, and prints the others.
report_steps() {
    local line
    while IFS= read -r line; do
        case $line in
        'ok '*) pass "${line#ok }" ;;
        'not '*) fail "${line#not }" ;;
        *) echo "    $line" ;;
        esac
    done <"$1"
}

# status_of COMMAND...: prints its exit status; the output goes to $work/said. A program has a minute, a function all
# the time that it takes.
status_of() {
    local status=0 limit=(timeout 60)
    [[ $(type -t "$1") != function ]] || limit=()
    "${limit[@]}" "$@" >"$work/said" 2>&1 || status=$?
    echo "$status"
}

# eventually COMMAND...: repeats it until it succeeds; fails after two minutes.
eventually() {
    local end=$((SECONDS + 120))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= end)); then
            echo "timed out: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# Sets up an empty home, separate from the user who runs the tests.
own_home() {
    unset "${!XDG_@}" DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY NOTIFY_SOCKET JOURNAL_STREAM
    export HOME=$work/home XDG_RUNTIME_DIR=$work/runtime
    export XDG_DATA_HOME=$HOME/.local/share
    mkdir -p "$XDG_DATA_HOME"
    mkdir -m 700 "$XDG_RUNTIME_DIR"
}

bus_pid=''
daemon_pid=''
stop_everything() {
    local pid
    for pid in $daemon_pid $bus_pid; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in $daemon_pid $bus_pid; do eventually has_ended "$pid" || kill -KILL "$pid"; done
}
trap stop_everything EXIT

# bus_configuration [SERVICE_FOLDER]: prints the configuration of a private bus that starts only the services of that
# folder. $bus_limits are further elements.
bus_configuration() {
    cat <<XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$XDG_RUNTIME_DIR/bus</listen>
  ${1:+<servicedir>$1</servicedir>}
  ${bus_limits:-}
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
XML
}

# bus_units OPTION...: writes the units of a bus that a user manager runs itself; the options are dbus-daemon's.
bus_units() {
    cat >/run/systemd/user/dbus.socket <<UNIT
[Socket]
ListenStream=%t/bus
UNIT
    cat >/run/systemd/user/dbus.service <<UNIT
[Unit]
Requires=dbus.socket
[Service]
ExecStart=$(command -v dbus-daemon) --address=systemd: --nofork --systemd-activation $*
UNIT
}

# own_machine USER_ID USER: a system bus with a mock of logind, which `logind OBJECT METHOD ARGUMENT...` calls, and the
# user's login session on a display, which processes belong to that start later. The test ends $machine_pid and
# $logind_pid.
# shellcheck disable=SC2034
own_machine() {
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
    eventually test -S "$work/machine"
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/machine
    /usr/bin/python3 -m dbusmock --template logind >"$work/logind.log" 2>&1 &
    logind_pid=$!
    eventually logind "" org.freedesktop.DBus.Peer.Ping
    # The template's own method fails.
    logind "" org.freedesktop.DBus.Mock.AddMethod org.freedesktop.login1.Manager GetUser u o \
        "ret = '/org/freedesktop/login1/user/%d' % args[0]" >/dev/null
    logind "" org.freedesktop.DBus.Mock.AddSession c1 seat0 "$1" "$2" true >/dev/null
    export XDG_SESSION_ID=c1
}
logind() {
    gdbus call --system --timeout 120 --dest org.freedesktop.login1 --object-path "/org/freedesktop/login1$1" --method "${@:2}"
}

# own_bus [SERVICE_FOLDER]: starts a private bus.
own_bus() {
    bus_configuration "$@" >"$work/bus.conf"
    dbus-daemon --config-file="$work/bus.conf" --nofork 2>"$work/bus.log" &
    bus_pid=$!
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
    eventually ask_bus GetId
}

ask_bus() {
    dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus /org/freedesktop/DBus \
        "org.freedesktop.DBus.$1" "${@:2}" | awk '{ print $NF }'
}

owner() { ask_bus GetConnectionUnixProcessID string:org.freedesktop.secrets 2>/dev/null; }
owns_name() { [[ $(owner) == "$1" ]]; }

# secret-tool ARGUMENT...: libsecret's program, whose calls have a limit of 25 seconds.
secret-tool() { LD_PRELOAD="$clock" command secret-tool "$@"; }

# start_daemon [OPTION...]: starts keychaind on the private bus, and unlocks `login` with the password "p". Resets
# SIGINT, which a script's background jobs ignore.
start_daemon() {
    env --default-signal=INT LD_PRELOAD="$clock${LD_PRELOAD:+ $LD_PRELOAD}" "$KEYCHAIND" --unlock "$@" < <(echo p) 2>"$work/keychaind.log" &
    daemon_pid=$!
    eventually owns_name "$daemon_pid"
}

# own_mounts: begins the test again in a mount namespace of its own; needs root.
own_mounts() {
    [[ -z ${KEYCHAIND_OWN_MOUNTS:-} ]] || return 0
    # shellcheck disable=SC2016  # for the shell that is started
    KEYCHAIND_OWN_MOUNTS=1 exec unshare --mount --propagation private bash -euo pipefail -c '
        source "$here/support.sh"
        source "$scripts/test-$test.sh"'
}

# install_to PREFIX [DESTDIR [VARIABLE...]]: runs make install. Without a domain by default: it would change the
# machine's groups and folders.
install_to() {
    make --no-print-directory -C "$project" install BUILD="$(basename "${KEYCHAIND%/*}")" PREFIX="$1" DESTDIR="${2:-}" \
        DOMAIN=no "${@:3}" \
        >"$work/make.log" 2>&1 || { tail -n 3 "$work/make.log"; return 1; }
}

# check_links FOLDER: checks that the links of its documents lead to existing files and headings.
check_links() {
    local document link target
    while IFS= read -r document; do
        while IFS= read -r link; do
            target=$(dirname "$document")/${link%%#*}
            [[ $link != \#* ]] || target=$document
            if [[ ! -e $1/$target ]]; then
                fail "$document links to $link, which does not exist"
            elif [[ $link == *\#* ]] && ! grep -qxF -- "${link#*\#}" <(headings "$1/$target"); then
                fail "$document links to $link, but there is no such heading"
            fi
        done < <(grep -oE '\]\([^)]+' "$1/$document" | sed 's/^](//' | grep -vE '^[a-z]+:' || true)
    done < <(cd "$1" && find . -name '*.md' -not -path './.*/*' -printf '%P\n')
    pass "links of documents"
}

# headings DOCUMENT: prints its headings in the form of links.
headings() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed "s/[^a-z0-9 _-]//g; s/ /-/g"
}

# in_user_manager SESSION PREFIX: runs the script Tests/Packaging/SESSION in the session of an unprivileged user, with a
# real user manager and bus, and with the installation at PREFIX; what it prints is in $work/manager.log. The status is
# 77 if no manager can run here.
in_user_manager() {
    local made=() status=0
    if [[ $EUID -ne 0 ]] || ! unshare --mount --pid --fork true 2>"$work/said"; then
        echo "needs root and namespaces" >"$work/manager.log"
        return 77
    fi
    make_groups
    timeout --kill-after=5 480 unshare --mount --pid --fork --mount-proc --kill-child --propagation private \
        bash -euo pipefail "$project/Tests/Packaging/user-manager.sh" "$@" "${made[@]}" >"$work/manager.log" 2>&1 || status=$?
    remove_groups
    return "$status"
}

# make_groups: control groups for a user manager, in the array `made`.
make_groups() {
    local group
    for group in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
        if [[ -w $group/cgroup.procs ]] && mkdir "$group/keychaind-test-$$" 2>"$work/said"; then
            made+=("$group/keychaind-test-$$")
        fi
    done
}
remove_groups() {
    local group
    for group in "${made[@]}"; do find "$group" -depth -type d -exec rmdir {} + || true; done
}
