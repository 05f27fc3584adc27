# shellcheck shell=bash disable=SC2154
# The systemd unit is well-formed, has only directives that work in a user manager, and keychaind works under it.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
unit=$prefix/lib/systemd/user/keychaind.service
check_equal "systemd-analyze accepts the unit" "$(systemd-analyze --user verify --man=no "$unit" 2>&1)" ''
check_match "the unit stops before the bus" "$(grep '^After=' "$unit")" ' dbus\.service( |$)'

# Each of these moves the service into a user namespace or fails in a user manager; the unit's first comment explains
# it.
unfit='^(PrivateUsers|PrivateTmp|PrivateDevices|PrivateNetwork|PrivateIPC|PrivateMounts|Protect[A-Za-z]+|Read(Only|Write)Paths'
unfit+='|InaccessiblePaths|TemporaryFileSystem|Bind(ReadOnly)?Paths|CapabilityBoundingSet|AmbientCapabilities)='
check_equal "every directive works in a user manager" "$(grep -E "$unfit" "$unit" || true)" ''

# Each of these implies NoNewPrivileges= in a user manager, which drops the domain's group.
filters='^(NoNewPrivileges|SystemCall[A-Za-z]+|Restrict[A-Z][A-Za-z]+|MemoryDenyWriteExecute|LockPersonality)='
check_equal "no directive drops the domain's group" "$(grep -E "$filters" "$unit" || true)" ''

check_equal "the unit clears the variables that choose a system bus" "$(grep ^UnsetEnvironment= "$unit")" \
    UnsetEnvironment=DBUS_SYSTEM_BUS_ADDRESS

# Killed earlier, it would lose the backups and not close its files.
backups=$(sed -nE 's/.* backupTime = Duration\.seconds\(([0-9]+)\)$/\1/p' "$project/Sources/keychaind/Daemon.swift")
check_match "the time for the last backups is known" "$backups" '^[1-9][0-9]*$'
stop=$(sed -nE 's/^TimeoutStopSec=([0-9]+)s$/\1/p' "$unit")
check "the unit waits longer for the end than keychaind for its backups" test "$stop" -gt "$((backups + 5))"

# A real user manager in its own namespaces, for the unprivileged user 65534.
mkdir -p "$prefix/test/pam.d"
cc -o "$prefix/test/login" "$project/Tests/Session/login.c" -lpam
cc -shared -fPIC -o "$prefix/test/pam_account.so" "$project/Tests/Session/pam_account.c" -lpam
printf password >"$prefix/test/account"
cp "$scripts/flood.py" "$prefix/test"
cat >"$prefix/test/pam.d/login" <<PAM
auth    required $prefix/test/pam_account.so account=$prefix/test/account
auth    optional $prefix/lib/security/pam_keychaind.so group=none
session optional $prefix/lib/security/pam_keychaind.so group=none
PAM

status=0
in_user_manager unit-session.sh "$prefix" || status=$?
if [[ $status -eq 77 ]]; then
    skip "under a user manager: $(tail -n 1 "$work/manager.log")"
    exit 0
fi
said() { sed -n "s/^$1=//p" "$work/manager.log"; }
check_equal "systemd starts it for a call on the bus" "$(said state)" active
check_equal "it notifies systemd when it is ready" "$(said notified)" yes
check_equal "it stores and looks up a secret under the unit" "$(said lookup)" "kept in memory"
check_equal "it has no_new_privs" "$(said no-new-privileges)" 1
check_equal "its system calls are filtered" "$(said seccomp)" 2
check_equal "it may use no swap" "$(said swap)" 0
check_equal "it is in its callers' user namespace" "$(said same-user-namespace)" yes
check_equal "a login of the user succeeds" "$(said login-authenticate) $(said login-open)" "0 0"
check_equal "the login starts keychaind" "$(said started-by-login)" active
check_equal "the login unlocks the keychain, with all of the unit's restrictions" "$(said locked-after-login)" "b false"
check_equal "a restart starts another process" "$(said restarted)" yes
check_equal "after a restart the keychain is still unlocked, without a prompt" "$(said after-restart)" "kept on disk"
check_equal "after a second restart it is still unlocked" "$(said after-second-restart)" "kept on disk"
check_equal "after a restart beside a flood of calls it is still unlocked" "$(said after-flooded-restart)" "kept on disk"
check_equal "after a crash the keychain is locked" "$(said locked-after-crash)" "b true"
check_equal "after crashes in quick succession the next call starts it" "$(said after-crashes | uniq -c | xargs)" "7 b true"
check_equal "a call fails at once when the unit is masked" "$(said masked)" Spawn.ChildExited
check_equal "a call fails at once when the program is missing or crashes" "$(said failing | uniq)" \
    "Spawn.ChildExited Spawn.ChildExited"
check_equal "a call starts the unit that has been mended" "$(said mended)" "()"
check_equal "it ends with the result success" "$(said result)" success
[[ $status -eq 0 ]] || fail "under a user manager: $(tail -n 5 "$work/manager.log")"
