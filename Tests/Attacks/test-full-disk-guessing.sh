# shellcheck shell=bash disable=SC2154,SC1091
# The password of `login`, guessed on a disk that takes no record of a wrong one.

own_home
own_bus
source "$scripts/support.sh"
source "$scripts/guessing.sh"
files=$XDG_DATA_HOME/keychaind
mkdir -p "$files"
mount_disk() { mount -t tmpfs -o size=16m,mode=0700 tmpfs "$files" 2>/dev/null; }
if ! mount_disk; then
    skip "a small disk: mounting one needs root"
    exit 0
fi
trap 'stop_prompter; stop_everything; umount "$files"' EXIT
fill() { cat /dev/zero >"$files/ballast" 2>/dev/null || true; }
own_keychain() {
    start_with p
    check "the owner makes a keychain, $1" is_open
    stop_daemon
}
# attack_disk WHERE: guesses, then the owner's password in a dialog.
attack_disk() {
    tried=0
    check "guesses are counted across kills, $1" guess_until_refused guess_by_start
    check "some are tried, $1" test "$tried" -ge 3
    start_with p
    prompter "password p"
    attack guessing person | sed "s/\$/, $1/"
    stop_prompter
    kill_daemon
}

own_keychain "before the disk is full"
fill
check_equal "no byte is free" "$(df --output=avail "$files" | tail -n 1 | tr -d ' ')" 0
attack_disk "on a full disk"

umount "$files"
mount_disk
own_keychain "before the inodes are used up"
mount -o "remount,nr_inodes=$(($(find "$files" | wc -l)))" "$files"
check_equal "no file can be made" "$(status_of touch "$files/new")" 1
attack_disk "without free inodes"

umount "$files"
mount_disk
own_keychain "before the disk is read-only"
mount -o remount,ro "$files"
start_with p
check "no password is tried on a disk that cannot be written to" test "$state" = "(<true>,)"
check "and the log says why" eventually grep -q "The disk cannot be written to, so this try" "$work/keychaind.log"
kill_daemon
mount -o remount,rw "$files"
start_with p
check "the same password opens it when the disk can be written to" is_open
kill_daemon
