# shellcheck shell=bash
# Functions for the tests in this folder; run sources it.
# shellcheck disable=SC2154  # run exports here, project, results, test and work

report() { echo "$1 $test ${*:2}" | tee -a "$results"; }
pass() { report PASS "$@"; }
skip() { report SKIP "$@"; }
fail() { report FAIL "$@"; }

# check NAME COMMAND...: passes if the command succeeds; otherwise shows what it printed.
check() {
    if "${@:2}" >"$work/said" 2>&1; then pass "$1"; else fail "$1: $(<"$work/said")"; fi
}

# check_equal NAME ACTUAL EXPECTED
check_equal() { if [[ $2 == "$3" ]]; then pass "$1"; else fail "$1: got '$2', not '$3'"; fi; }

# check_match NAME TEXT PATTERN: an extended regular expression, anywhere in the text
check_match() { if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1: no '$3' in '$2'"; fi; }

# status_of COMMAND...: prints its exit status; what it says goes to $work/said.
status_of() {
    local status=0
    timeout 60 "$@" >"$work/said" 2>&1 || status=$?
    echo "$status"
}

# eventually COMMAND...: tries it until it succeeds; after two minutes it says what it has tried, and fails.
eventually() {
    local end=$((SECONDS + 120))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= end)); then
            echo "waited in vain for: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# A home of its own: nothing of the person who runs the tests is seen or touched.
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

# bus_configuration [SERVICE_FOLDER]: of a private bus, which starts the services of that folder and no others.
bus_configuration() {
    cat <<XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$XDG_RUNTIME_DIR/bus</listen>
  ${1:+<servicedir>$1</servicedir>}
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
XML
}

# own_bus [SERVICE_FOLDER]: starts one.
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

# start_daemon [OPTION...]: keychaind on the private bus, `login` unlocked by the password "p". SIGINT is set to its default,
# since a script's background jobs ignore it.
start_daemon() {
    env --default-signal=INT "$KEYCHAIND" --unlock "$@" < <(echo p) 2>"$work/keychaind.log" &
    daemon_pid=$!
    eventually owns_name "$daemon_pid"
}

# install_to PREFIX [DESTDIR [VARIABLE...]]: without a domain, which changes the machine's groups and folders, unless a variable
# says otherwise
install_to() {
    make --no-print-directory -C "$project" install PREFIX="$1" DESTDIR="${2:-}" DOMAIN=no "${@:3}" >"$work/make.log" 2>&1
}

# check_links FOLDER: no document in it links to a file or a heading that is not there.
check_links() {
    local document link target
    while IFS= read -r document; do
        while IFS= read -r link; do
            target=$(dirname "$document")/${link%%#*}
            [[ $link != \#* ]] || target=$document
            if [[ ! -e $1/$target ]]; then
                fail "$document links to $link"
            elif [[ $link == *\#* ]] && ! headings "$1/$target" | grep -qxF -- "${link#*\#}"; then
                fail "$document links to $link, which is no heading"
            fi
        done < <(grep -oE '\]\([^)]+' "$1/$document" | sed 's/^](//' | grep -vE '^[a-z]+:' || true)
    done < <(cd "$1" && find . -name '*.md' -not -path './.*/*' -printf '%P\n')
    pass "links of documents"
}

# headings DOCUMENT: as links name them.
headings() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed "s/[^a-z0-9 _-]//g; s/ /-/g"
}
