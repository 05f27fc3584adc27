# shellcheck shell=bash disable=SC2154
# libsecret reads what another program is replacing.

own_home
own_bus
check "keychaind starts" start_daemon
check "whoever reads a large secret that is being replaced gets one" \
    env LD_PRELOAD="$clock" /usr/bin/python3 "$scripts/libsecret_replacements.py"
