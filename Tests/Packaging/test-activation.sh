# shellcheck shell=bash disable=SC2154
# Installed, it is started by the first program that asks the bus for it, and introspects as the interface files say.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
own_bus "$prefix/share/dbus-1/services"

default=$(gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
    --method org.freedesktop.Secret.Service.ReadAlias default 2>&1 || true)
check_match "a fresh account has a default collection" "$default" '/org/freedesktop/secrets/collection/login'
daemon_pid=$(owner)
check_equal "it is the installed binary" "$(tr '\0' ' ' <"/proc/$daemon_pid/cmdline")" "$prefix/bin/keychaind "
