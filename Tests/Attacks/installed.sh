# shellcheck shell=bash disable=SC2154
# Functions for a clean root: keychaind, and logins of anna through PAM. Sourced by scripts of clean_root.sh; an attack
# prints `NAME: held` or `NAME: True` if it fails.

# shellcheck disable=SC2034  # for the attack's script
data=/var/lib/keychaind/$anna_id/data
held() { # NAME COMMAND...: an attack, which has to fail
    if "${@:2}" >"$work/said" 2>&1; then echo "$1: GOT IN: $(head -c 300 "$work/said" | tr '\n' ' ')"; else echo "$1: held"; fi
}
right() { # NAME COMMAND...: a control, which has to succeed
    if "${@:2}" >"$work/said" 2>&1; then echo "$1: True"; else echo "$1: False: $(tail -c 300 "$work/said" | tr '\n' ' ')"; fi
}
keychaind_pid() {
    as_anna dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets | awk '{ print $2 }'
}
wake() { as_anna gdbus introspect --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets; }

# A PAM login, as by sshd and display managers.
mkdir "$work/pam.d"
cc -shared -fPIC -o "$work/pam_account.so" "$project/Tests/Session/pam_account.c" -lpam
cc -o "$work/login" "$project/Tests/Session/login.c" -lpam
printf 'the password of anna' >"$work/account"
module=$(find /usr/lib /usr/local/lib -name pam_keychaind.so -print -quit)
cat >"$work/pam.d/login" <<PAM
auth    required $work/pam_account.so account=$work/account
auth    optional $module
session optional $module
PAM
log_in() { printf '%s\n' "$(<"$work/account")" | timeout 60 "$work/login" "$work/pam.d" login anna authenticate open; }
is_locked() { # BOOLEAN [VARIABLE=VALUE...]
    as_anna env "${@:2}" busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
        org.freedesktop.Secret.Collection Locked | grep -q "b $1"
}
