# shellcheck shell=bash disable=SC2154,SC1091
# In a clean root: anna looks after her keychain. Sourced by clean_root.sh; prints a terminal session, and for each
# check a line that begins with `ok` or `not`.

# shows NAME PATTERN COMMAND...: prints a command of anna's with its output, which has to match.
shows() {
    echo "\$ ${*:3}"
    as_anna "${@:3}" >"$work/said" 2>&1 </dev/null || true
    awk 1 "$work/said"
    if grep -qE -- "$2" "$work/said"; then echo "ok $1"; else echo "not $1: no '$2'"; fi
}
# succeeds NAME COMMAND...
succeeds() {
    if "${@:2}" >"$work/said" 2>&1; then echo "ok $1"; else echo "not $1: $(tail -c 400 "$work/said" | tr '\n' ' ')"; fi
}

on_display() { DISPLAY=$display xdotool "$@"; }
dialog() { [[ -n $(on_display search --onlyvisible --class . 2>/dev/null) ]]; }
no_dialog() { ! dialog; }
# types LINE: into the dialog that is there or comes.
types() {
    eventually dialog
    # A new dialog takes the keyboard a little after it is visible.
    eventually on_display search --onlyvisible --class . windowfocus --sync
    on_display type --delay 20 "$1"
    on_display key Return
}
touch_reader() { /usr/bin/python3 "$project/Tests/Attacks/reader.py" "$work/reader" touch 60 "$@"; }

# shellcheck source=Tests/Attacks/installed.sh
source "$project/Tests/Attacks/installed.sh"
cc -shared -fPIC -o "$work/clock.so" "$project/Tests/Clock/clock.c" -ldl
log_in() {
    printf %s "$1" >"$work/account"
    printf '%s\n' "$1" | timeout 60 env LD_PRELOAD="$work/clock.so" "$work/login" "$work/pam.d" login anna authenticate open
}
reads() { # what secret-tool finds
    as_anna timeout 120 secret-tool lookup application chromium >"$work/found" 2>&1 &
    reading=$!
}
found() {
    wait "$reading"
    [[ $(<"$work/found") == "the key of the cookies" ]]
}

wake >"$work/said"
succeeds "anna logs in" log_in "the first password"
succeeds "which opens her keychain" eventually is_locked false
chromium=(xdg:schema chrome_libsecret_os_crypt_password_v2 application chromium)
printf 'the key of the cookies' | as_anna secret-tool store --label="Chromium Safe Storage" "${chromium[@]}"
reads
succeeds "Chromium reads its key without a question" found

shows "she protects it" "now asks for" keychainctl protect application=chromium --with "biometryAny or devicePasscode"
reads
touch_reader
succeeds "her finger gives it to Chromium" found
shows "the audit names the program" "secret-tool" keychainctl audit application=chromium

reads
for _ in 1 2 3 4 5; do touch_reader stranger; done
types "the first password"
succeeds "after five wrong touches her password opens it" found
reads
touch_reader
succeeds "and the reader is free again" found

printf 'the note of yesterday' | as_anna keychainctl set --label Note name=note
as_anna keychainctl backup >"$work/said"
printf 'the note of today' | as_anna keychainctl set name=note
shows "past states are listed" "backup:login" keychainctl history name=note
as_anna keychainctl history name=note --restore backup:login.keychain >"$work/restored" 2>&1 &
restoring=$!
types "the first password"
wait "$restoring"
cat "$work/restored"
shows "the state of yesterday is back" "the note of yesterday" keychainctl get name=note

in_german() { shows "$1" "$2" env LANG=de_DE.UTF-8 "${@:3}"; }
in_german "the status is in German" '^Fingerabdruckleser +bereit' keychainctl status
in_german "she protects the note in German" '„Note“ verlangt jetzt' keychainctl protect name=note --with userPresence
as_anna env LANG=de_DE.UTF-8 timeout 60 keychainctl get name=note >"$work/found" 2>&1 &
reading=$!
touch_reader
wait "$reading" || true
succeeds "and reads it with her finger" grep -q "the note of yesterday" "$work/found"
