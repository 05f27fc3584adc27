#!/bin/bash
# with_secret_tool.sh write SERVICE ACCOUNT <PASSWORD | read SERVICE ACCOUNT
#
# The same as main.swift, with secret-tool, for scripts.
set -euo pipefail

case ${1:-} in
    write) secret-tool store --label="$3" service "$2" account "$3" ;;
    read) secret-tool lookup service "$2" account "$3" ;;
    *) sed -n 2p "$0" >&2; exit 64 ;;
esac
