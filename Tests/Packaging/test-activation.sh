# shellcheck shell=bash disable=SC2154
# After the switch, the first call on the bus starts keychaind.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
own_bus "$prefix/share/keychaind"

default=$(gdbus call --session --timeout 120 --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
    --method org.freedesktop.Secret.Service.ReadAlias default 2>&1 || true)
check_match "a fresh account has a default collection" "$default" '/org/freedesktop/secrets/collection/login'
daemon_pid=$(owner)
check_equal "the bus starts the installed binary" "$(tr '\0' ' ' <"/proc/$daemon_pid/cmdline")" "$prefix/bin/keychaind "

# What the daemon prints before it fails is in the log of the bus.
kill -TERM "$daemon_pid"
eventually has_ended "$daemon_pid"
printf '#!/bin/sh\nexit 70\n' >"$prefix/bin/keychaind"
failed=$(gdbus call --session --timeout 120 --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
    --method org.freedesktop.DBus.Peer.Ping 2>&1 || true)
check_match "a caller learns that it does not start" "$failed" 'Spawn\.ChildExited'
