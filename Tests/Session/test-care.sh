# shellcheck shell=bash disable=SC2154
# Looking after keychaind as a person does: an item of a browser gets a finger, the reader is locked out, a password is
# forgotten, and an item comes back from yesterday. With the real fprintd, polkit, PAM and dialogs.

mkdir "$work/clean"
status=0
timeout --kill-after=10 560 bash "$project/Tests/Attacks/clean_root.sh" "$work/clean" "$scripts/care.sh" >"$work/steps" \
    2>"$work/care.log" || status=$?
if [[ $status -eq 77 ]]; then
    skip "in a clean root: $(tail -n 1 "$work/steps")"
    exit 0
fi
while IFS= read -r line; do
    case $line in
    'ok '*) pass "${line#ok }" ;;
    'not '*) fail "${line#not }" ;;
    *) echo "    $line" ;;
    esac
done <"$work/steps"
[[ $status -eq 0 ]] || fail "in a clean root, exit status $status: $(tail -n 5 "$work/care.log")"
