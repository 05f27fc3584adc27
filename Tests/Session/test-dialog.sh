# shellcheck shell=bash disable=SC2154
# keychaind-dialog on a display of its own: its protocol, bad input, long texts, and files and programs of the user that
# would change it.

dialog=$project/.build/keychaind-dialog
if [[ ! -x $dialog ]]; then
    skip "there is no $dialog; make dialog builds it"
    exit 0
fi
own_home
mkdir "$work/user"
# Without -noreset the screen would be away for a moment after each program.
exec {display}< <(exec setpriv --pdeathsig TERM Xvfb -displayfd 1 -screen 0 1024x768x24 -noreset -nolisten tcp 2>/dev/null)
read -r -u "$display" number
export DISPLAY=:$number
status=0
timeout --kill-after=10 560 /usr/bin/python3 "$scripts/dialog.py" "$dialog" "$work/user" >"$work/steps" 2>"$work/log" || status=$?
report_steps "$work/steps"
[[ $status -eq 0 ]] || fail "dialog.py ended with $status: $(tail -n 5 "$work/log")"
