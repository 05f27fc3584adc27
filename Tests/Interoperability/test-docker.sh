# shellcheck shell=bash disable=SC2154
# docker-credential-secretservice stores, lists, finds and erases credentials, also after a restart.

helper() { docker-credential-secretservice "$1" <<<"${2:-}" 2>&1 || true; }
credential() { printf '{"ServerURL":"%s","Username":"%s","Secret":"%s"}' "$registry" "$1" "$2"; }

own_home
own_bus
registry=https://registry.example.com/v1
check "keychaind starts" start_daemon
check_equal "store" "$(helper store "$(credential me 'one \u00e4\nline')")" ''
check_equal "get" "$(helper get "$registry")" "$(credential me 'one ä\nline')"
check_equal "store over the credential" "$(helper store "$(credential me two)")" ''
check_equal "get the new credential" "$(helper get "$registry")" "$(credential me two)"

kill -TERM "$daemon_pid"
wait "$daemon_pid" || true
check "keychaind starts again" start_daemon
check_equal "list" "$(helper list)" "{\"$registry\":\"me\"}"
check_equal "get after the restart" "$(helper get "$registry")" "$(credential me two)"
check_equal "erase" "$(helper erase "$registry")" ''
check_match "get after erase finds nothing" "$(helper get "$registry")" 'not found'
check_equal "list after erase is empty" "$(helper list)" '{}'
