#!/bin/bash
# everyone.sh: each of the four programs writes a password, and all read it.
#
# Uses the built Swift program, or the one in FROM_SWIFT.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

programs=(
    "${FROM_SWIFT:-$here/../.build/debug/FromOtherLanguages}"
    "$here/with_secret_tool.sh"
    "$here/with_secretstorage.py"
    "$here/with_libsecret.py"
)

status=0
for writer in "${programs[@]}"; do
    account=$(basename "$writer")
    printf 'written by %s' "$account" | "$writer" write "From other languages" "$account"
    echo "$account wrote a password."
    for reader in "${programs[@]}"; do
        found=$("$reader" read "From other languages" "$account") || true
        echo "    $(basename "$reader") reads: $found"
        [[ $found == "written by $account" ]] || status=1
    done
done
exit "$status"
