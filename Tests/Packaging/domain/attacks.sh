# shellcheck shell=bash disable=SC2154
# Runs as root in mount and process namespaces of its own, where two users and an installation are made up.

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
check_equal "the helper is set-uid, for the group alone" "$(stat -c '%a %u:%g' $helper)" "4710 0:$group"

bus=unix:path=/run/user/$anna/bus
# UID COMMAND...: as a program of that user, with nothing of this shell's environment
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

# begin [VARIABLE=VALUE...] [-- OPTION...]: anna's keychaind; $daemon_pid is its process
begin() {
    local variables=()
    while (($#)) && [[ $1 != -- ]]; do variables+=("$1") && shift; done
    (($#)) && shift
    printf p >$folder/password
    $by $anna "${variables[@]}" $program "$@" <$folder/password >"$work/daemon.log" 2>&1 &
    eventually has_owner || return 1
    daemon_pid=$(owner)
}
end() {
    kill -TERM "$daemon_pid"
    eventually has_ended "$daemon_pid"
    daemon_pid=''
}
lookup() { $by $anna timeout 20 secret-tool lookup name value 2>/dev/null || true; }

# MARK: in the domain

check "it starts" begin -- --unlock
check_match "it says where it is" "$(<"$work/daemon.log")" "in a domain of its own folder=/var/lib/keychaind/$anna/data"
check_match "it has the group" "$(grep ^Gid: "/proc/$daemon_pid/status")" "$anna.$group.$group.$group"
check_equal "it gains no privileges from there" "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$daemon_pid/status")" 1
check "programs store" $by $anna sh -c 'printf secret | timeout 20 secret-tool store --label=l name value'
check_equal "and look up" "$(lookup)" secret
for place in /var/lib/keychaind /run/keychaind; do
    check_equal "$place: nobody but root changes it" "$(stat -c '%a %u:%g' $place)" "755 0:0"
    check_equal "$place: the outer folder" "$(stat -c '%a %u:%g' $place/$anna)" "710 0:0"
    check_equal "$place: the inner folder" "$(stat -c '%a %u:%g' $place/$anna/data)" "2770 0:$group"
    check "$place: the user cannot list it" denied $by $anna ls $place/$anna/data
    check "$place: nor put anything in" denied $by $anna touch $place/$anna/data/new
    check "$place: nor remove it" denied $by $anna rmdir $place/$anna/data
    # What a keychaind of Ben's could do at most.
    check "$place: another user's keychaind cannot pass" denied setpriv --reuid $ben --regid $ben --groups $group \
        ls $place/$anna/data
    check "$place: this user with the group can" setpriv --reuid $anna --regid $anna --groups $group ls $place/$anna/data
done
for file in login.keychain state.db index.key; do
    check_equal "$file is the user's" "$(stat -c '%a %u' "/var/lib/keychaind/$anna/data/$file")" "600 $anna"
    check "$file cannot be read all the same" denied $by $anna cat "/var/lib/keychaind/$anna/data/$file"
done
check_equal "nothing is in the home folder" "$(find /opt/home -type f)" ''

sleep 1000 &
plain=$!
$by $anna sleep 1000 &
eventually pgrep -u $anna -x sleep
check_match "a process of the user's can be looked into" \
    "$($by $anna python3 "$scripts/domain/intruder.py" "$(pgrep -u $anna -x sleep)")" '^mem maps environ'
kill $plain
check_equal "this one cannot" "$($by $anna python3 "$scripts/domain/intruder.py" "$daemon_pid")" nothing
end

# MARK: what it is started with

cat >$folder/preload.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void mark(void) { fclose(fopen(getenv("MARK"), "w")); }
C
cc -shared -fPIC -o $folder/preload.so $folder/preload.c
cp $program $folder/plain
check "a plain program loads it" $by $anna LD_PRELOAD=$folder/preload.so MARK=$folder/open/plain $folder/plain --version
check_equal "and runs it" "$(stat -c %u $folder/open/plain)" $anna
check "the set-gid one starts" $by $anna LD_PRELOAD=$folder/preload.so MARK=$folder/open/domain $program --version
check_equal "and does not run it" "$(find $folder/open -name domain)" ''

# refused NAME STATUS PATTERN COMMAND...: one line, and nothing is left running
refused() {
    check_equal "$1: the status" "$(status_of "${@:4}")" "$2"
    check_match "$1: why" "$(<"$work/said")" "$3"
    check_equal "$1: one line" "$(grep -c . "$work/said")" 1
}
for address in "unixexec:path=/usr/bin/touch,argv1=$folder/open/executed" "autolaunch:" "tcp:host=127.0.0.1,port=1" \
    "launchd:env=X" "nonce-tcp:host=127.0.0.1,port=1,noncefile=/etc/passwd" "unix:dir=/tmp" "unix:tmpdir=/tmp" \
    "unix:path=/a,abstract=b" "unix:path=relative" "unix:path=/nowhere;$bus" "unix:" "nonsense"; do
    refused "the bus ${address%%[,=]*}" 69 'there is no session bus' \
        $by $anna "DBUS_SESSION_BUS_ADDRESS=$address" $program
done
check_equal "nothing was executed" "$(find $folder/open -name executed)" ''
refused "three files" 127 'error while loading shared libraries' $by $anna prlimit --nofile=3:3 $program
refused "twenty files" 74 'too low a limit for open files: 20' $by $anna prlimit --nofile=20:20 $program
refused "small files" 74 'too low a limit for the size of files' $by $anna prlimit --fsize=4096:4096 $program
refused "little data" 74 'too low a limit for its data' $by $anna prlimit --data=33554432:33554432 $program
refused "a small stack" 74 'too low a limit for its stack' $by $anna prlimit --stack=262144:262144 $program
check "low limits that can be raised are" begin DBUS_SESSION_BUS_ADDRESS=$bus -- --unlock
check_equal "the secret is still there" "$(lookup)" secret
end
$by $anna prlimit --nofile=64:1024 --fsize=1000: $program >"$work/daemon.log" 2>&1 &
check "it starts with them" eventually has_owner
daemon_pid=$(owner)
check_match "files" "$(grep '^Max open files' "/proc/$daemon_pid/limits")" '1024 +1024'
check_match "their size" "$(grep '^Max file size' "/proc/$daemon_pid/limits")" 'unlimited +unlimited'
end

$by $anna $program <&- >&- 2>&- &
check "it starts with closed descriptors" eventually has_owner
daemon_pid=$(owner)
# The C library has opened the first already.
check_equal "which lead nowhere" "$(readlink /proc/"$daemon_pid"/fd/{0,1,2} | grep -vxE '/dev/(null|full)')" ''
end

# Half a megabyte of it, with names of every library that is linked or loaded.
cat >$folder/hostile.py <<'PY'
import os
import sys
names = "SWIFT_DEBUG_x MALLOC_CHECK_ SQLITE_TMPDIR TMPDIR TSS2_LOG TSS2_LOGFILE TPM2TOOLS_TCTI DBUS_SYSTEM_BUS_ADDRESS LOCPATH NLSPATH"
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
check_equal "a pinentry unlocks" "$(lookup)" secret
check_equal "it was not that of PATH" "$(find $folder/open -name decoy)" ''
started=$(<$folder/open/started)
check_match "it has no group but the user's" "$started" "Gid:.$anna.$anna.$anna.$anna"
check_equal "not even as one among others" "$(sed -n 's/^Groups:[[:space:]]*//p' <<<"$started")" ''
check_match "it gains no privileges" "$started" 'NoNewPrivs:.1'
check_equal "it has an environment of the system's" \
    "$(grep -E '^[A-Z_0-9]+=' <<<"$started" | grep -vE '^(PWD|SHLVL|_|OLDPWD)=' | sort | tr '\n' ' ')" \
    "DBUS_SESSION_BUS_ADDRESS=$bus DISPLAY=:99 HOME=/opt/home/anna LANG=C.UTF-8 LOGNAME=anna PATH=/usr/local/bin:/usr/bin:/bin \
USER=anna XDG_CONFIG_HOME=/opt/home/ben XDG_DATA_HOME=/opt/home/ben "
check_match "the caller is known by its program" "$(<$folder/open/lines)" '/usr/bin/secret-tool'
check_equal "nothing is in the other's folders" "$(find /opt/home/ben /run/user/$ben -mindepth 1)" ''
end

# Numbers of descriptors that are the daemon's own by the time they are used.
cat >$folder/numbers.sh <<'SH'
#!/bin/sh
# As systemd announces them; they are not there, but for those of the caller.
export LISTEN_PID=$$ LISTEN_FDS=60 LISTEN_FDNAMES=$1
shift
exec "$@"
SH
chmod 755 $folder/numbers.sh
names=$(printf 'keychain-keys:%.0s' {1..60})
$by $anna $folder/numbers.sh "$names" $program <$folder/open/password >"$work/daemon.log" 2>&1 &
check "it starts with descriptors that are not there" eventually has_owner
daemon_pid=$(owner)
has_lock() { find "/proc/$daemon_pid/fd" -lname "/var/lib/keychaind/$anna/data/lock" | grep -q .; }
check "it closes none of its own" eventually has_lock
end
unlock_from() { status_of $by $anna $folder/numbers.sh "$1" $program --unlock-fd "$2" 3<$folder/open/password; }
check_equal "a password from a descriptor that is not open" "$(unlock_from x 40)" 64
check_equal "a password from one that is also given for something else" "$(unlock_from keychain-keys 3)" 64
check_match "it says why" "$(<"$work/said")" '--unlock-fd needs the number of a descriptor that is open'

# MARK: files that it opens

configuration=/opt/home/anna/.config/keychaind
$by $anna mkdir -p $configuration
# configured NAME PATTERN: what it says of the configuration
configured() {
    check "$1: it starts" begin
    check "$1: it says why" eventually grep -qE "$2" "$work/daemon.log"
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
check "it does not wait for a credential that is a pipe" begin CREDENTIALS_DIRECTORY=$folder/open/credentials
end
$by $anna ln -sf "/run/keychaind/$anna/data/handover" $folder/open/credentials/keychaind.password
check "nor follows one" begin CREDENTIALS_DIRECTORY=$folder/open/credentials
end

for path in /var/lib/keychaind/$anna/data /var/lib/keychaind/$ben/data; do
    check_equal "--data-dir $path" "$(status_of $by $anna $program --data-dir "$path")" 74
    check_match "--data-dir $path: why" "$(<"$work/said")" 'Permission denied'
    check_match "--data-dir $path: without the domain" "$(<"$work/said")" 'without a domain.*--data-dir names a folder outside'
done
check "with another folder it serves" begin -- --data-dir /opt/home/anna/data
check_match "without the group" "$(grep ^Gid: "/proc/$daemon_pid/status")" "$anna.$anna.$anna.$anna"
end

# MARK: folders that are not keychaind's

check_equal "users cannot start the helper" "$(status_of $by $anna $helper)" 126
check_equal "for root there is nothing to do" "$(status_of $helper)" 74
# begun NAME PATTERN: Ben's keychaind, whose folders root prepares here
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
check_equal "what was begun is completed" "$(stat -c '%a %u:%g' /var/lib/keychaind/$ben /var/lib/keychaind/$ben/data)" \
    "710 0:0
2770 0:$group"
mv $helper $helper-away
rm -r /run/keychaind/$ben
check_equal "without the helper" "$(status_of $by $ben DBUS_SESSION_BUS_ADDRESS=$bus $program)" 74
check_match "it says what is missing" "$(<"$work/said")" "$helper|libexec/keychaind/keychaind-folders: No such file"
printf '#!/bin/sh\nid >%s/open/helped\n' "$folder" >$helper
chmod 755 $helper
check_equal "with another in its place" "$(status_of $by $ben DBUS_SESSION_BUS_ADDRESS=$bus $program)" 74
check_equal "that is not run" "$(find $folder/open -name helped)" ''
mv $helper-away $helper

check_equal "root's own needs none" \
    "$(status_of env DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere HOME=$folder $program)" 69

# MARK: a restart

# A user manager of Anna's, whose unit she changes: the program is what `unit` says at each start.
cat >$folder/unit.sh <<'SH'
#!/bin/sh
exec "$(cat "@FOLDER@/open/unit")"
SH
sed -i "s|@FOLDER@|$folder|" $folder/unit.sh
cat >$folder/open/thief <<'SH'
#!/bin/sh
# What another ExecStart gets, and what it can reach.
IFS=:
number=3
for name in $LISTEN_FDNAMES; do
    if [ "$name" = keychain-keys ]; then wc -c <"/proc/self/fd/$number" >"@FOLDER@/open/stolen"; fi
    number=$((number + 1))
done
cat /run/keychaind/61001/data/handover >"@FOLDER@/open/file" 2>"@FOLDER@/open/said"
trap 'exit 0' TERM
touch "@FOLDER@/open/thieved"
while :; do sleep 0.1; done
SH
sed -i "s|@FOLDER@|$folder|g" $folder/open/thief
chmod 755 $folder/unit.sh $folder/open/thief
echo $program >$folder/open/unit
$by $anna DISPLAY=:99 python3 "$project/Tests/Session/manager.py" $folder/unit.sh >"$work/manager" 2>"$work/daemon.log" &
manager=$!
log_in() {
    $by $anna python3 -c \
        'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("/run/user/61001/keychaind/pam")'
}
eventually log_in
manager_process() { pgrep -u $anna -f "^python3 .*manager.py"; }
has_started() { [[ $(grep -c ^started "$work/manager") -ge $1 ]]; }
has_new_owner() { has_owner && [[ $(owner) != "$1" ]]; }
check "a manager starts it" eventually has_owner
printf p >$folder/open/password
check_equal "a pinentry unlocks it" "$(lookup)" secret
before=$(owner)
kill -HUP "$(manager_process)"
check "it is started anew" eventually has_new_owner "$before"
check_equal "it stays unlocked" "$(lookup)" secret
check_equal "nothing is left of the hand-over" "$(find /run/keychaind/$anna -type f)" ''
echo $folder/open/thief >$folder/open/unit
kill -HUP "$(manager_process)"
check "another program is started instead" eventually test -e $folder/open/thieved
check_equal "it gets a key to something else" "$(<$folder/open/stolen)" 32
check_match "which it cannot reach" "$(<$folder/open/said)" 'Permission denied'
check_match "and which is sealed" "$(stat -c '%a %u' /run/keychaind/$anna/data/handover)" "600 $anna"
echo $program >$folder/open/unit
kill -TERM "$(manager_process)"
wait $manager || true
check "the next start" begin
check_equal "removes what nobody has the key to" "$(find /run/keychaind/$anna -name handover)" ''
check_match "and finds it locked" "$($by $anna timeout 20 dbus-send --session --print-reply=literal \
    --dest=org.freedesktop.secrets /org/freedesktop/secrets/collection/login org.freedesktop.DBus.Properties.Get \
    string:org.freedesktop.Secret.Collection string:Locked)" 'boolean true'
end

make --no-print-directory -C "$project" uninstall PREFIX=/opt/keychaind >/dev/null
check_equal "make uninstall takes the program and the helper away" "$(find /opt/keychaind/bin /opt/keychaind/libexec -type f)" ''
check "and leaves the data" test -f "/var/lib/keychaind/$anna/data/login.keychain"
