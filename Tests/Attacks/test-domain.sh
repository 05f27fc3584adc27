# shellcheck shell=bash disable=SC2154
# keychaind as installed by an administrator, attacked by the user's programs.

mkdir "$work/clean"
status=0
timeout --kill-after=10 560 bash "$scripts/clean_root.sh" "$work/clean" "$scripts/domain.sh" >"$work/spoils" 2>"$work/attack.log" || status=$?
if [[ $status -eq 77 ]]; then
    skip "in a clean root: $(tail -n 1 "$work/spoils")"
    exit 0
fi
while IFS= read -r line; do
    case ${line#*: } in
    held | True) pass "${line%%:*}" ;;
    *) fail "$line" ;;
    esac
done <"$work/spoils"
[[ $status -eq 0 ]] || fail "in a clean root, exit status $status: $(tail -n 5 "$work/attack.log")"
