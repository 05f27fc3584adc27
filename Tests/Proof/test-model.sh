# shellcheck shell=bash disable=SC2154
# Thousands of random sequences against the model, in parts of 500 with the seeds SEED, SEED + 1 …; as many parts run at
# a time as there are processors.

[[ -x $KEYCHAIND ]] || { fail "there is no $KEYCHAIND; run make first"; exit 0; }
first=${SEED:-$(date +%Y%m%d)}
export STEPS=${STEPS:-40}
for ((seed = first, left = ${SEQUENCES:-2000}; left > 0; seed++, left -= 500)); do
    while (($(jobs -pr | wc -l) >= $(nproc))); do wait -n; done
    SEED=$seed SEQUENCES=$((left < 500 ? left : 500)) "$here/run" Model >"$work/$seed" 2>&1 || true &
done
wait
for ((number = first; number < seed; number++)); do
    passed=$(sed -n 's/^PASS model //p' "$work/$number")
    if [[ -n $passed ]]; then pass "$passed"; else fail "$(<"$work/$number")"; fi
done
