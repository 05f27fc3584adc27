# shellcheck shell=bash disable=SC2154,SC1091
# Thousands of random sequences against the model; SEED chooses them.

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
SEED=${SEED:-$(date +%Y%m%d)} SEQUENCES=${SEQUENCES:-2000} STEPS=${STEPS:-40}
scripts=$project/Tests/Model
source "$scripts/test-model.sh"
