# shellcheck shell=bash disable=SC2154
# After installation, the first call on the bus starts keychaind, and introspection matches the interface files.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
own_bus "$prefix/share/dbus-1/services"

default=$(gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
    --method org.freedesktop.Secret.Service.ReadAlias default 2>&1 || true)
check_match "a fresh account has a default collection" "$default" '/org/freedesktop/secrets/collection/login'
daemon_pid=$(owner)
check_equal "the bus starts the installed binary" "$(tr '\0' ' ' <"/proc/$daemon_pid/cmdline")" "$prefix/bin/keychaind "
