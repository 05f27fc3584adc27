# shellcheck shell=bash disable=SC2154
# Runs as root in its own mount and process namespaces, which hold two users and an installation.

group=61234 anna=61001 ben=61002
folder=/opt/keychaind/test
mount -t tmpfs -o mode=755 tmpfs /opt
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /usr/local/bin
mkdir -p $folder /opt/home /run/user
{
    cat /etc/passwd
    echo "anna:x:$anna:$anna::/opt/home/anna:/bin/sh"
    echo "ben:x:$ben:$ben::/opt/home/ben:/bin/sh"
} >$folder/passwd
mount --bind $folder/passwd /etc/passwd
for user in $anna $ben; do install -d -m 700 -o "$user" -g "$user" "/run/user/$user"; done
install -d -m 700 -o $anna -g $anna /opt/home/anna
install -d -m 700 -o $ben -g $ben /opt/home/ben
install -d -m 777 $folder/open

check "make install" install_to /opt/keychaind "" DOMAIN=yes DOMAINGROUP=$group
grep -q "with a domain" "$work/make.log" || { cat "$work/make.log"; exit 1; }
program=/opt/keychaind/bin/keychaind helper=/opt/keychaind/libexec/keychaind/keychaind-folders
check_equal "the program is set-gid" "$(stat -c '%a %u:%g' $program)" "2755 0:$group"
check_equal "the helper is set-uid, and only the group can start it" "$(stat -c '%a %u:%g' $helper)" "4710 0:$group"

bus=unix:path=/run/user/$anna/bus
# UID COMMAND...: runs a program of that user, without this shell's environment
by=$folder/by
cat >$by <<SH
#!/bin/sh
user=\$1
shift
exec setpriv --reuid "\$user" --regid "\$user" --clear-groups env -i PATH=/usr/local/bin:/usr/bin:/bin \\
    HOME=/opt/home/anna XDG_RUNTIME_DIR="/run/user/\$user" DBUS_SESSION_BUS_ADDRESS=$bus "\$@"
SH
chmod 755 $by
denied() { if "$@" >"$work/said" 2>&1; then return 1; else grep -q 'Permission denied' "$work/said"; fi; }

export DBUS_SESSION_BUS_ADDRESS=$bus
XDG_RUNTIME_DIR=/run/user/$anna bus_configuration >$folder/bus.conf
$by $anna dbus-daemon --config-file=$folder/bus.conf --nofork 2>"$work/bus.log" &
# shellcheck disable=SC2034  # support.sh ends it
bus_pid=$!
eventually $by $anna dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId
owner() {
    $by $anna dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus /org/freedesktop/DBus \
        org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets 2>/dev/null | awk '{ print $NF }'
}
has_owner() { [[ -n $(owner) ]]; }

# begin [VARIABLE=VALUE...] [-- OPTION...]: starts anna's keychaind; $daemon_pid is its process
begin() {
    local variables=()
    while (($#)) && [[ $1 != -- ]]; do variables+=("$1") && shift; done
    (($#)) && shift
    printf p >$folder/password
    $by $anna "${variables[@]}" "$program" "$@" <$folder/password >"$work/daemon.log" 2>&1 &
    eventually has_owner || return 1
    daemon_pid=$(owner)
}
end() {
    kill -TERM "$daemon_pid"
    eventually has_ended "$daemon_pid"
    daemon_pid=''
}
lookup() { $by $anna timeout 60 secret-tool lookup name value 2>/dev/null || true; }

# MARK: in the domain

check "keychaind starts in the domain" begin -- --unlock
check_match "the log names the domain's folder" "$(<"$work/daemon.log")" "in a domain of its own folder=/var/lib/keychaind/$anna/data"
check_match "it has the domain's group" "$(grep ^Gid: "/proc/$daemon_pid/status")" "$anna.$group.$group.$group"
check_equal "it cannot gain further privileges" "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$daemon_pid/status")" 1
check "programs can store a secret" $by $anna sh -c 'printf secret | timeout 60 secret-tool store --label=l name value'
check_equal "programs can look it up" "$(lookup)" secret
for place in /var/lib/keychaind /run/keychaind; do
    check_equal "$place: only root can change it" "$(stat -c '%a %u:%g' $place)" "755 0:0"
    check_equal "$place: the outer folder has the right mode" "$(stat -c '%a %u:%g' $place/$anna)" "710 0:0"
    check_equal "$place: the inner folder has the right mode" "$(stat -c '%a %u:%g' $place/$anna/data)" "2770 0:$group"
    check "$place: the user cannot list it" denied $by $anna ls $place/$anna/data
    check "$place: the user cannot create a file in it" denied $by $anna touch $place/$anna/data/new
    check "$place: the user cannot remove it" denied $by $anna rmdir $place/$anna/data
    # The most that a keychaind of Ben's could do.
    check "$place: another user's keychaind cannot enter" denied setpriv --reuid $ben --regid $ben --groups $group \
        ls $place/$anna/data
    check "$place: this user with the group can enter" setpriv --reuid $anna --regid $anna --groups $group ls $place/$anna/data
done
for file in login.keychain state index.key; do
    check_equal "$file belongs to the user" "$(stat -c '%a %u' "/var/lib/keychaind/$anna/data/$file")" "600 $anna"
    check "the user cannot read $file" denied $by $anna cat "/var/lib/keychaind/$anna/data/$file"
done
check_equal "the home folder has no files" "$(find /opt/home -type f)" ''

sleep 1000 &
plain=$!
$by $anna sleep 1000 &
eventually pgrep -u $anna -x sleep
check_match "control: another process of the user is accessible" \
    "$($by $anna python3 "$scripts/domain/intruder.py" "$(pgrep -u $anna -x sleep)")" '^mem maps environ'
kill $plain
check_equal "keychaind's process is not accessible" "$($by $anna python3 "$scripts/domain/intruder.py" "$daemon_pid")" nothing
end

# MARK: what it is started with

cat >$folder/preload.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void mark(void) { fclose(fopen(getenv("MARK"), "w")); }
C
cc -shared -fPIC -o $folder/preload.so $folder/preload.c
cp $program $folder/plain
check "control: a plain program loads a preloaded library" $by $anna LD_PRELOAD=$folder/preload.so MARK=$folder/open/plain $folder/plain --version
check_equal "control: the preloaded library runs" "$(stat -c %u $folder/open/plain)" $anna
check "the set-gid program starts with a preloaded library" $by $anna LD_PRELOAD=$folder/preload.so MARK=$folder/open/domain $program --version
check_equal "the set-gid program does not run the preloaded library" "$(find $folder/open -name domain)" ''

# A system bus of the user's, on which somebody could answer for fprintd and logind.
$by $anna python3 -c 'import socket, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print("listening", flush=True)
    listener.accept()
    print("called", flush=True)' $folder/open/system-bus >$folder/heard &
eventually grep -q listening $folder/heard
begin DBUS_SYSTEM_BUS_ADDRESS=unix:path=$folder/open/system-bus
check "the set-gid program has looked for the system bus" eventually grep -q 'there is no system bus' "$work/daemon.log"
check_equal "the set-gid program calls no system bus of the user's" "$(<$folder/heard)" listening
end
program=$folder/plain begin DBUS_SYSTEM_BUS_ADDRESS=unix:path=$folder/open/system-bus -- --data-dir /opt/home/anna/plain
check "control: a plain program calls it" eventually grep -q called $folder/heard
check_equal "a plain program's process is not accessible either" \
    "$($by $anna python3 "$scripts/domain/intruder.py" "$daemon_pid")" nothing
end

# refused NAME STATUS PATTERN COMMAND...: keychaind ends with that status and one matching line, and leaves no process
refused() {
    check_equal "$1: the exit status is right" "$(status_of "${@:4}")" "$2"
    check_match "$1: the message gives the reason" "$(<"$work/said")" "$3"
    check_equal "$1: the message is one line" "$(grep -c . "$work/said")" 1
}
for address in "unixexec:path=/usr/bin/touch,argv1=$folder/open/executed" "autolaunch:" "tcp:host=127.0.0.1,port=1" \
    "launchd:env=X" "nonce-tcp:host=127.0.0.1,port=1,noncefile=/etc/passwd" "unix:dir=/tmp" "unix:tmpdir=/tmp" \
    "unix:path=/a,abstract=b" "unix:path=relative" "unix:path=/nowhere;$bus" "unix:" "nonsense"; do
    refused "the bus ${address%%[,=]*}" 69 'there is no session bus' \
        $by $anna "DBUS_SESSION_BUS_ADDRESS=$address" $program
done
check_equal "no command in the variables was executed" "$(find $folder/open -name executed)" ''
refused "three files" 127 'error while loading shared libraries' $by $anna prlimit --nofile=3:3 $program
refused "twenty files" 74 'too low a limit for open files: 20' $by $anna prlimit --nofile=20:20 $program
refused "small files" 74 'too low a limit for the size of files' $by $anna prlimit --fsize=4096:4096 $program
refused "little data" 74 'too low a limit for its data' $by $anna prlimit --data=33554432:33554432 $program
refused "a small stack" 74 'too low a limit for its stack' $by $anna prlimit --stack=262144:262144 $program
check "it starts with low limits that it can raise" begin DBUS_SESSION_BUS_ADDRESS=$bus -- --unlock
check_equal "the secret is unchanged" "$(lookup)" secret
end
$by $anna prlimit --nofile=64:1024 --fsize=1000: $program >"$work/daemon.log" 2>&1 &
check "it starts with limits that it cannot raise" eventually has_owner
daemon_pid=$(owner)
check_match "the limit of open files is raised" "$(grep '^Max open files' "/proc/$daemon_pid/limits")" '1024 +1024'
check_match "the limit of file sizes is raised" "$(grep '^Max file size' "/proc/$daemon_pid/limits")" 'unlimited +unlimited'
end

$by $anna $program <&- >&- 2>&- &
check "it starts with closed descriptors" eventually has_owner
daemon_pid=$(owner)
# The C library has already opened the first.
check_equal "closed descriptors lead to /dev/null" "$(readlink /proc/"$daemon_pid"/fd/{0,1,2} | grep -vxE '/dev/(null|full)')" ''
end

# Half a megabyte, with the names of all linked and loaded libraries.
cat >$folder/hostile.py <<'PY'
import os
import sys
names = "SWIFT_DEBUG_x MALLOC_CHECK_ TMPDIR TSS2_LOG TSS2_LOGFILE TPM2TOOLS_TCTI DBUS_SYSTEM_BUS_ADDRESS LOCPATH NLSPATH"
environment = {name: "/nowhere" for name in names.split()}
environment |= {f"X{number}": "x" * 5000 for number in range(100)}
environment |= {"HOME": "/opt/home/ben", "PATH": "/opt/home/anna/bin", "USER": "ben", "XDG_RUNTIME_DIR": "/run/user/61002",
    "XDG_DATA_HOME": "/opt/home/ben", "XDG_CONFIG_HOME": "/opt/home/ben", "LC_ALL": "../../opt/home/anna",
    "LANG": "C.UTF-8", "LC_TIME": "x" * 5000, "DISPLAY": ":99", "DBUS_SESSION_BUS_ADDRESS": sys.argv[1]}
os.execve(sys.argv[2], ["keychaind"] + sys.argv[3:], environment)
PY
install -m 755 "$scripts/domain/pinentry.sh" /usr/local/bin/pinentry
sed -i "s|@FOLDER@|$folder/open|" /usr/local/bin/pinentry
install -d -o $anna -g $anna /opt/home/anna/bin
printf '#!/bin/sh\ntouch %s/open/decoy\n' "$folder" >/opt/home/anna/bin/pinentry
chmod 755 /opt/home/anna/bin/pinentry
printf p >$folder/open/password
$by $anna python3 $folder/hostile.py $bus $program --prompters pinentry </dev/null >"$work/daemon.log" 2>&1 &
check "it starts with a hostile environment" eventually has_owner
daemon_pid=$(owner)
check_equal "a pinentry unlocks the keychain" "$(lookup)" secret
check_equal "a pinentry from PATH is not used" "$(find $folder/open -name decoy)" ''
started=$(<$folder/open/started)
check_match "the pinentry has only the user's group" "$started" "Gid:.$anna.$anna.$anna.$anna"
check_equal "the pinentry has no supplementary group" "$(sed -n 's/^Groups:[[:space:]]*//p' <<<"$started")" ''
check_match "the pinentry cannot gain privileges" "$started" 'NoNewPrivs:.1'
check_equal "the pinentry has a safe environment" \
    "$(grep -E '^[A-Z_0-9]+=' <<<"$started" | grep -vE '^(PWD|SHLVL|_|OLDPWD)=' | sort | tr '\n' ' ')" \
    "DBUS_SESSION_BUS_ADDRESS=$bus DISPLAY=:99 HOME=/opt/home/anna LANG=C.UTF-8 LOGNAME=anna PATH=/usr/local/bin:/usr/bin:/bin \
USER=anna XDG_CONFIG_HOME=/opt/home/ben XDG_DATA_HOME=/opt/home/ben "
check_match "the dialog names the calling program" "$(<$folder/open/lines)" '/usr/bin/secret-tool'
check_equal "the other user's folders are empty" "$(find /opt/home/ben /run/user/$ben -mindepth 1)" ''
end

# Descriptor numbers that the daemon itself uses by then.
cat >$folder/numbers.sh <<'SH'
#!/bin/sh
# Announced as by systemd, but only those of the caller exist.
export LISTEN_PID=$$ LISTEN_FDS=60 LISTEN_FDNAMES=$1
shift
exec "$@"
SH
chmod 755 $folder/numbers.sh
names=$(printf 'keychain-keys:%.0s' {1..60})
$by $anna $folder/numbers.sh "$names" $program <$folder/open/password >"$work/daemon.log" 2>&1 &
check "it starts with announced descriptors that do not exist" eventually has_owner
daemon_pid=$(owner)
has_lock() { [[ -n $(find "/proc/$daemon_pid/fd" -lname "/var/lib/keychaind/$anna/data/lock") ]]; }
check "it closes none of its own descriptors" eventually has_lock
end
unlock_from() { status_of $by $anna $folder/numbers.sh "$1" $program --unlock-fd "$2" 3<$folder/open/password; }
check_equal "a password from a closed descriptor is a usage error" "$(unlock_from x 40)" 64
check_equal "a password from a descriptor with another use is a usage error" "$(unlock_from keychain-keys 3)" 64
check_match "the message names the option" "$(<"$work/said")" '--unlock-fd needs the number of a descriptor that is open'

# MARK: files that it opens

configuration=/opt/home/anna/.config/keychaind
$by $anna mkdir -p $configuration
# configured NAME PATTERN: checks the log message about the configuration
configured() {
    check "$1: keychaind starts" begin
    check "$1: the log says why" eventually grep -qE "$2" "$work/daemon.log"
    end
    rm -f $configuration/config.toml
}
$by $anna ln -s "/var/lib/keychaind/$anna/data/index.key" $configuration/config.toml
configured "a configuration that only the domain may read" 'configuration cannot be read.*Permission denied'
$by $anna mkfifo $configuration/config.toml
configured "a configuration that is a pipe" 'configuration cannot be read.*not a file'
$by $anna sh -c "echo '[host]
tpm = \"swtpm:path=/opt/home/anna/tpm\"' >$configuration/config.toml"
configured "a TPM of the user's" 'no other TPM'
$by $anna mkdir $folder/open/credentials
$by $anna mkfifo $folder/open/credentials/keychaind.password
check "keychaind does not wait for a credential that is a pipe" begin CREDENTIALS_DIRECTORY=$folder/open/credentials
end
$by $anna ln -sf "/run/keychaind/$anna/data/handover" $folder/open/credentials/keychaind.password
check "keychaind does not follow a credential that is a link" begin CREDENTIALS_DIRECTORY=$folder/open/credentials
end

for path in /var/lib/keychaind/$anna/data /var/lib/keychaind/$ben/data; do
    check_equal "--data-dir $path is refused" "$(status_of $by $anna $program --data-dir "$path")" 74
    check_match "--data-dir $path: the message gives the reason" "$(<"$work/said")" 'Permission denied'
    check_match "--data-dir $path: the message explains the missing domain" "$(<"$work/said")" 'without a domain.*--data-dir names a folder outside'
done
check "keychaind serves from another folder of the user" begin -- --data-dir /opt/home/anna/data
check_match "keychaind serves from another folder without the group" "$(grep ^Gid: "/proc/$daemon_pid/status")" "$anna.$anna.$anna.$anna"
end

# MARK: folders that are not keychaind's

check_equal "users cannot start the helper" "$(status_of $by $anna $helper)" 126
check_equal "the helper refuses root" "$(status_of $helper)" 74
# begun NAME PATTERN: starts Ben's keychaind, with folders prepared by root
begun() {
    refused "$1" 74 "$2" $by $ben DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$ben/bus $program
    rm -rf /var/lib/keychaind/$ben /run/keychaind/$ben
}
for place in /var/lib/keychaind /run/keychaind; do
    ln -s /opt/home/ben $place/$ben
    begun "$place: a link" "$place/$ben: it is not a folder"
    mkfifo $place/$ben
    begun "$place: a pipe" "$place/$ben: it is not a folder"
    install -d -m 700 -o $ben -g $ben $place/$ben
    begun "$place: a folder of the user's" "$place/$ben: somebody else has made it"
    install -d -m 755 $place/$ben
    begun "$place: an open folder" "$place/$ben: its mode is not keychaind's"
    install -d -m 700 $place/$ben
    ln -s /opt/home/ben $place/$ben/data
    begun "$place: a link in it" "$place/$ben/data: it is not a folder"
    cp -a $place/$anna $place/$ben
    begun "$place: another's folder" "$place/$ben: (its|it has|somebody).*"
done
install -d -m 700 /var/lib/keychaind/$ben /var/lib/keychaind/$ben/data
chmod 777 /run/keychaind
begun "a place that anybody can change" '/run/keychaind: others than root can change it'
chmod 755 /run/keychaind
install -d -m 700 /var/lib/keychaind/$ben /var/lib/keychaind/$ben/data
$by $ben DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$ben/bus $program >"$work/said" 2>&1 || true
check_equal "the helper completes folders that exist in part" "$(stat -c '%a %u:%g' /var/lib/keychaind/$ben /var/lib/keychaind/$ben/data)" \
    "710 0:0
2770 0:$group"
mv $helper $helper-away
rm -r /run/keychaind/$ben
check_equal "without the helper, keychaind does not start" "$(status_of $by $ben DBUS_SESSION_BUS_ADDRESS=$bus $program)" 74
check_match "the message names the missing helper" "$(<"$work/said")" "$helper|libexec/keychaind/keychaind-folders: No such file"
printf '#!/bin/sh\nid >%s/open/helped\n' "$folder" >$helper
chmod 755 $helper
check_equal "with another program as the helper, keychaind does not start" "$(status_of $by $ben DBUS_SESSION_BUS_ADDRESS=$bus $program)" 74
check_equal "another program in place of the helper is not run" "$(find $folder/open -name helped)" ''
mv $helper-away $helper

check_equal "root's keychaind needs no helper" \
    "$(status_of env DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere HOME=$folder $program)" 69

make --no-print-directory -C "$project" uninstall PREFIX=/opt/keychaind >/dev/null
check_equal "make uninstall removes the program and the helper" "$(find /opt/keychaind/bin /opt/keychaind/libexec -type f)" ''
check "make uninstall keeps the data" test -f "/var/lib/keychaind/$anna/data/login.keychain"
