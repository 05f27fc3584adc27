# shellcheck shell=bash disable=SC2154
# The domain (docs/domain.md): the user's programs attack an installed keychaind.

# Namespaces hold the users, folders and installation of this test.
if [[ $EUID -ne 0 ]] || ! unshare --mount --pid --fork true 2>"$work/said"; then
    skip "needs root and namespaces"
    exit 0
fi
# shellcheck disable=SC2016  # for the shell that is started
timeout --kill-after=5 560 unshare --mount --pid --fork --mount-proc --kill-child --propagation private \
    bash -euo pipefail -c 'source "$here/support.sh"; source "$scripts/domain/attacks.sh"'
