# shellcheck shell=bash
# Functions for tests with logins: a test account, a PAM configuration with keychaind's module, and a user's daemon.
# Sourced after own_home and own_bus.

# Root logs in another user, as login programs do; other users can only log in themselves.
# shellcheck disable=SC2154,SC2034,SC2120  # run exports clock, project, scripts and work
user_id=$(id -u)
[[ $user_id -ne 0 ]] || user_id=65534
user=$(id -nu "$user_id")
runtime=$work/run
module=$project/.build/pam_keychaind.so

become_user=(env)
[[ $EUID -ne 0 ]] || become_user=(setpriv --reuid "$user_id" --regid "$user_id" --clear-groups)
as_user() { "${become_user[@]}" "$@"; }

# make_account PASSWORD: creates the account, its folders and the service "login"; the session bus belongs to the user.
make_account() {
    mkdir -p "$work/pam.d" "$runtime"
    chmod 711 "$work" "${work%/*}" "$runtime"
    printf %s "$1" >"$work/account"
    install -d -m 700 "$runtime/$user_id"
    [[ $EUID -ne 0 ]] || chown "$user_id:$user_id" "$runtime/$user_id" "$work/account"
    cc -shared -fPIC -o "$work/pam_account.so" "$scripts/pam_account.c" -lpam
    cc -o "$work/login" "$scripts/login.c" -lpam
    install -m 644 "$scripts"/*.py "$work"
    write_service login
}

# write_service NAME [ARGUMENT]: writes a service that passes the argument to the account's module. Without a domain,
# unless a test sets module_options.
write_service() {
    local options="runtime=$runtime ${module_options-group=none}"
    cat >"$work/pam.d/$1" <<PAM
auth     required $work/pam_account.so account=$work/account
auth     optional $module $options
account  required $work/pam_account.so account=$work/account ${2:-}
password required $work/pam_account.so account=$work/account ${2:-}
password optional $module $options
session  optional $module $options
PAM
}

# log_in PASSWORD STEP...: logs in as a login program does; PASSWORD has one password a line. Tests in which the module
# gives up set login_clock to nothing, the real clock.
log_in() {
    printf '%s\n' "$1" | act_as_login "${service:-login}" "$user" "${@:2}" 2>&1 || true
}

# act_as_login SERVICE USER STEP...
act_as_login() { timeout 120 env LD_PRELOAD="${login_clock-$clock}" "$work/login" "$work/pam.d" "$@"; }

# The account's home, bus and daemon; the daemon's log is $work/keychaind.log.
user_environment() {
    export HOME=$runtime/$user_id/home XDG_RUNTIME_DIR=$runtime/$user_id
    export XDG_DATA_HOME=$HOME/data DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/no-system-bus
    as_user mkdir -p "$XDG_DATA_HOME"
}

start_user_bus() {
    bus_configuration "$@" >"$work/user-bus.conf"
    chmod 644 "$work/user-bus.conf"
    "${become_user[@]}" dbus-daemon --config-file="$work/user-bus.conf" --nofork 2>"$work/bus.log" &
    bus_pid=$!
    eventually test -S "$XDG_RUNTIME_DIR/bus"
}

# start_user_daemon [OPTION...]: starts a copy of the daemon that the user can read, whoever owns the project's folder.
start_user_daemon() {
    [[ -x $work/keychaind ]] || install -m 755 "$KEYCHAIND" "$work/keychaind"
    "${become_user[@]}" env LD_PRELOAD="$clock" "$work/keychaind" "$@" </dev/null 2>>"$work/keychaind.log" &
    daemon_pid=$!
    eventually as_user_owns_name "$daemon_pid"
    eventually hears_logins
}

as_user_owns_name() {
    [[ $(as_user dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus /org/freedesktop/DBus \
        org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets 2>/dev/null |
        awk '{ print $NF }') == "$1" ]]
}

stop_user_daemon() {
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || true
    daemon_pid=''
}

# is_locked [COLLECTION]: prints true or false.
is_locked() {
    as_user gdbus call --session --timeout 120 --dest org.freedesktop.secrets --object-path "/org/freedesktop/secrets/collection/${1:-login}" \
        --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Locked |
        grep -oE 'true|false'
}

store() { printf %s "$2" | as_user env LD_PRELOAD="$clock" secret-tool store --label=test name "$1"; }
look_up() { as_user env LD_PRELOAD="$clock" secret-tool lookup name "$1"; }

# Succeeds if a login has connected to the socket and is not accepted yet.
login_waits() { grep -qE " 00000000 0005 02 +[0-9]+ $XDG_RUNTIME_DIR/keychaind/pam\$" /proc/net/unix; }

# Succeeds if a process listens at the socket for logins. Its file may be left from an earlier daemon.
hears_logins() { grep -q " 00010000 .* $XDG_RUNTIME_DIR/keychaind/pam\$" /proc/net/unix; }

# The user at a display: a pinentry that logs its questions, answers with the lines of $work/typed, and then cancels.
make_person() {
    mkdir "$work/bin"
    cat >"$work/bin/pinentry" <<'PINENTRY'
#!/bin/bash
folder=${BASH_SOURCE[0]%/bin/*}
echo OK
while read -r line; do
    case $line in
    SETDESC*) description=$line ;;
    GETPIN)
        echo "$description" >>"$folder/dialogs"
        answer=$(sed -n "$(wc -l <"$folder/dialogs")p" "$folder/typed")
        if [[ -z $answer ]]; then
            echo "ERR 83886179 Operation cancelled"
            continue
        fi
        echo "D $answer"
        ;;
    'GETINFO flavor') echo "D gtk2" ;;
    BYE) echo OK && exit ;;
    esac
    echo OK
done
PINENTRY
    chmod 755 "$work/bin" "$work/bin/pinentry"
    export PATH=$work/bin:$PATH DISPLAY=:77
    touch "$work/dialogs"
    chmod 666 "$work/dialogs"
}

# types LINE...: sets the answers to the next dialogs; dialogs: prints how many there were.
types() {
    printf '%s\n' "$@" >"$work/typed"
    : >"$work/dialogs"
}
dialogs() { wc -l <"$work/dialogs" | tr -d ' '; }

# make_domain: installs keychaind set-gid to the group $group, as an administrator does. A mount namespace holds the
# test's own /run, /var/lib and /etc/group.
group=64123
make_domain() {
    mount -t tmpfs -o mode=755 tmpfs /run
    mount -t tmpfs -o mode=755 tmpfs /var/lib
    cp /etc/group "$work/group-without"
    sed -i '/^keychaind:/d' "$work/group-without"
    { cat "$work/group-without" && echo "keychaind:x:$group:"; } >"$work/group"
    chmod 644 "$work/group" "$work/group-without"
    mount --bind "$work/group" /etc/group
    mkdir -p "$work/system/bin" "$work/system/libexec/keychaind"
    cc -std=gnu11 -o "$work/system/libexec/keychaind/keychaind-folders" "$project/domain/keychaind-folders.c"
    cp "$KEYCHAIND" "$work/system/bin/keychaind"
    chown "0:$group" "$work/system/bin/keychaind" "$work/system/libexec/keychaind/keychaind-folders"
    chmod 4710 "$work/system/libexec/keychaind/keychaind-folders"
    chmod 2755 "$work/system/bin/keychaind"
    ln -s system/bin/keychaind "$work/keychaind"
}
