# shellcheck shell=bash disable=SC2154
# The real desktop portal finds the backend on any desktop, and a program gets the same secret every time.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
own_bus "$prefix/share/keychaind"
portal_pid=''
end_portal() {
    [[ -z $portal_pid ]] || kill "$portal_pid" || true
    stop_everything
}
trap end_portal EXIT
start_portal() {
    XDG_CURRENT_DESKTOP=$1 XDG_DESKTOP_PORTAL_DIR=$prefix/share/keychaind \
        /usr/libexec/xdg-desktop-portal --replace 2>"$work/portal.log" &
    portal_pid=$!
    eventually has_portal
}
has_portal() { gdbus introspect --session --dest org.freedesktop.portal.Desktop --object-path /org/freedesktop/portal/desktop |
    grep -q org.freedesktop.portal.Secret; }
secret() { timeout 120 env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/portal.py" 2>&1 || true; }
service=org.freedesktop.impl.portal.desktop.keychaind
call_backend() {
    gdbus call --session --timeout 120 --dest "$service" --object-path /org/freedesktop/portal/desktop \
        --method org.freedesktop.DBus.Properties.Get org.freedesktop.impl.portal.Secret version 2>&1 || true
}

# The backend takes its name after the service.
start_backend() {
    start_daemon
    eventually ask_bus GetNameOwner "string:$service"
}
start_backend
start_portal sway
first=$(secret)
check_match "a program gets 64 bytes" "$first" '^[0-9a-f]{128}$'
check_equal "a program gets the same secret each time" "$(secret)" "$first"
check_equal "no search finds the secret" "$(secret-tool search --all app_id '' 2>&1)" ''
items=$(gdbus call --session --timeout 120 --dest org.freedesktop.secrets \
    --object-path /org/freedesktop/secrets/collection/login \
    --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Items)
check_equal "no list of items has the secret" "$items" "(<@ao []>,)"
check_match "other programs cannot call the backend" "$(call_backend)" 'no object|UnknownObject|UnknownMethod'
kill "$portal_pid"
wait "$portal_pid" || true

start_portal GNOME
check_equal "the secret is the same on another desktop" "$(secret)" "$first"
kill -TERM "$daemon_pid"
eventually has_ended "$daemon_pid"
start_backend
check_equal "the secret is the same after a restart" "$(secret)" "$first"
