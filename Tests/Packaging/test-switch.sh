# shellcheck shell=bash disable=SC2154
# keychainctl switch, killed at every change of a file, of which SEED chooses a sample: it ends in one of the two states
# when it is run again. `make proof PROOF=matrices` kills it at all of them.

own_home
prefix=$work/prefix
check "make install" install_to "$prefix"
control=$prefix/bin/keychainctl
# This machine's gnome-keyring and portals do not matter.
export XDG_CONFIG_DIRS=$work/xdg XDG_DATA_DIRS=$work/share XDG_CURRENT_DESKTOP=GNOME
mkdir -p "$XDG_CONFIG_DIRS/autostart" "$XDG_DATA_DIRS/dbus-1/services" "$HOME/.config/keepassxc" "$HOME/.local/state" \
    "$work/dotfiles"
printf '[Desktop Entry]\nType=Application\n' >"$XDG_CONFIG_DIRS/autostart/gnome-keyring-secrets.desktop"
touch "$XDG_DATA_DIRS/dbus-1/services/org.kde.kwalletd5.service"
printf '[Wallet]\nFirst Use=false\n' >"$work/dotfiles/kwalletrc"
ln -s "$work/dotfiles/kwalletrc" "$HOME/.config/kwalletrc"
printf '[FdoSecrets]\r\nEnabled=true\r\n' >"$HOME/.config/keepassxc/keepassxc.ini"
chmod 600 "$HOME/.config/keepassxc/keepassxc.ini"
touch -d '2020-02-02 02:02:02.123456789' "$HOME/.config/keepassxc/keepassxc.ini"

# tree: everything in the home folder, with modes, targets, contents, and times of files.
tree() {
    (cd "$HOME" && find . -type d -printf '%p %m\n' -o -type l -printf '%p %l\n' -o -printf '%p %m %T@\n' | sort &&
        find . -type f -exec cksum {} + | sort)
}
# choices: the same without times and the journal.
choices() {
    (cd "$HOME" && find . -type d -printf '%p %m\n' -o -type l -printf '%p %l\n' -o -printf '%p %m\n' | sort &&
        find . -type f -not -name switch.json -exec cksum {} + | sort)
}
before=$(tree)
check_equal "without a bus to hand over on, the status is 8" \
    "$(status_of env DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent "$control" switch on --now)" 8
check_equal "without a bus to hand over on, nothing has changed" "$(tree)" "$before"
check "it switches" "$control" switch on --quiet
on=$(choices)
check_match "the activation file is a link" "$on" 'org\.freedesktop\.secrets\.service .*/share/keychaind/'
check_equal "the link that was kwalletrc has become a file" "$(stat -c %F "$HOME/.config/kwalletrc")" "regular file"
check_equal "the file behind the link is unchanged" "$(<"$work/dotfiles/kwalletrc")" $'[Wallet]\nFirst Use=false'
check_equal "status finds nothing to mend" "$(status_of "$control" switch status)" 0
check_equal "doctor finds nothing to mend" "$(status_of "$control" doctor)" 0
check_equal "a second switch changes nothing" "$("$control" switch on --quiet; choices)" "$on"
check "it goes back" "$control" switch off --quiet
check_equal "everything is as before, byte for byte" "$(tree)" "$before"
check "to go back twice does no harm" "$control" switch off --quiet
check_equal "everything is as before still" "$(tree)" "$before"

# injected CALL EFFECT ARGUMENT...: runs keychainctl, with an effect on one of its calls; prints its exit status.
injected() {
    local status=0
    {
        strace --follow-forks --quiet=all --output="$work/trace" --trace="$1" --inject="$1:$2" \
            "$control" "${@:3}" >"$work/said" 2>&1
    } 2>"$work/killed" || status=$?
    echo "$status"
}
# interrupt COMMAND: kills the command at calls that change something, and repeats it in both directions.
every=${EVERY:-4}
interrupt() {
    local call number
    wrong=''
    count=0
    for call in mkdir renameat symlinkat unlinkat fsync fchmod; do
        number=$((1 + ${SEED:-0} % every))
        while [[ $(injected "$call" "signal=KILL:when=$number" switch "$1" --quiet) -ne 0 ]]; do
            if ((count % 3 == 0)); then
                "$control" switch on --quiet
                [[ $(choices) == "$on" ]] || wrong+=" on:$call:$number"
            fi
            "$control" switch off --quiet
            [[ $(tree) == "$before" ]] || wrong+=" off:$call:$number"
            [[ $1 == on ]] || "$control" switch on --quiet
            ((number += every, count += 1))
        done
        # The uninterrupted run at the end is undone.
        if [[ $1 == on ]]; then "$control" switch off --quiet; else "$control" switch on --quiet; fi
    done
}
interrupt on
check_equal "killed at any change while it switches, it ends in one of the two states" "$wrong" ''
check "it was killed at changes of the way there" test "$count" -gt $((50 / every))
"$control" switch on --quiet
interrupt off
check_equal "killed at any change while it goes back, it ends in one of the two states" "$wrong" ''
check "it was killed at changes of the way back" test "$count" -gt $((50 / every))
check "it goes back at the end" "$control" switch off --quiet
check_equal "everything is as before at the end" "$(tree)" "$before"

# full CALL: a full disk at each of these calls.
full() {
    local number=1 status
    while status=$(injected "$1" "error=ENOSPC:when=$number" switch on --quiet) && [[ $status -ne 0 ]]; do
        [[ $status -eq 10 && $(tree) == "$before" && $(<"$work/said") == *"No space left on device; nothing has changed" ]] ||
            wrong+=" $1:$number:$status"
        ((number += 1))
    done
    "$control" switch off --quiet
}
wrong=''
for call in fsync symlinkat renameat; do full "$call"; done
check_equal "on a full disk nothing has changed, and it says so" "$wrong" ''
check_equal "a read-only home folder has the status of files" \
    "$(injected mkdir,symlinkat error=EROFS switch on --quiet)" 10
check_match "the message says that it is read-only" "$(<"$work/said")" 'Read-only file system; nothing has changed'
check_equal "nothing has changed in a read-only home folder" "$(tree)" "$before"

# What has been changed since stays.
check "it switches again" "$control" switch on --quiet
printf 'Launch Manager=false\n' >>"$HOME/.config/kwalletrc"
check "it can be switched again after KWallet has changed its file" "$control" switch on --quiet
check_match "KWallet's change stays when it is switched again" "$(<"$HOME/.config/kwalletrc")" 'Launch Manager=false$'
check "it goes back after KWallet has changed its file" "$control" switch off --quiet
check_equal "KWallet's change stays, and the switch's key is gone" "$(<"$HOME/.config/kwalletrc")" \
    $'[Wallet]\nFirst Use=false\n\n[org.freedesktop.secrets]\nLaunch Manager=false'
ln -sf "$work/dotfiles/kwalletrc" "$HOME/.config/kwalletrc"
check "it switches once more" "$control" switch on --quiet
rm "$HOME/.config/autostart/gnome-keyring-secrets.desktop"
check_equal "status finds the missing entry" "$(status_of "$control" switch status)" 2
check_match "status names the command that mends it" "$(<"$work/said")" $'gnome-keyring.*\n  keychainctl switch on'
echo mine >"$HOME/.config/autostart/gnome-keyring-secrets.desktop"
check_equal "a file that was replaced since has a status of its own" "$(status_of "$control" switch off)" 2
check_match "the file that was replaced is named" "$(<"$work/said")" 'gnome-keyring-secrets.desktop'
check_equal "the file that was replaced is kept" "$(<"$HOME/.config/autostart/gnome-keyring-secrets.desktop")" mine
rm -r "$HOME/.config/autostart"
check_equal "everything else is as before" "$(tree)" "$before"

# ~/.config is a link.
mv "$HOME/.config" "$work/config"
ln -s "$work/config" "$HOME/.config"
before=$(tree)
check "it switches through ~/.config that is a link" "$control" switch on --quiet
check "the files are behind the link" test -L "$work/config/autostart/gnome-keyring-secrets.desktop"
check "it goes back through the link" "$control" switch off --quiet
check_equal "everything is as before behind the link" "$(tree)" "$before"
check_equal "nothing is left behind the link" "$(find "$work/config" -type l)" "$work/config/kwalletrc"

# All accounts, in an image of a system.
check_equal "--if-none is for all accounts" "$(status_of "$control" switch on --if-none)" 64
if [[ $EUID -eq 0 ]]; then
    image=$work/image
    mkdir -p "$image"/{etc/pam.d,usr/bin,usr/local/share,var/lib}
    chmod -R go-w "$image"
    printf 'auth optional pam_gnome_keyring.so\n' >"$image/etc/pam.d/lightdm"
    image_tree() { (cd "$image" && find . -printf '%p %m %l\n' | sort && find . -type f -exec cksum {} + | sort); }
    touch "$image/usr/bin/gnome-keyring-daemon"
    before=$(image_tree)
    check "a package switches nothing beside another provider" "$control" switch on --all --if-none --quiet --root "$image"
    check_equal "a package says nothing beside another provider" "$(<"$work/said")" ''
    check_equal "nothing has changed beside another provider" "$(image_tree)" "$before"
    check "the administrator switches all accounts" "$control" switch on --all --quiet --root "$image"
    check_match "a line that starts another provider is marked" "$(<"$image/etc/pam.d/lightdm")" '^# keychainctl switch: auth'
    check "the administrator goes back" "$control" switch off --all --quiet --root "$image"
    check_equal "all is as before for all accounts" "$(image_tree)" "$before"
    rm "$image/usr/bin/gnome-keyring-daemon"
    before=$(image_tree)
    check "a package switches where there is no provider" "$control" switch on --all --if-none --quiet --root "$image"
    check_equal "the bus of all accounts starts keychaind" \
        "$(readlink "$image/usr/local/share/dbus-1/services/org.freedesktop.secrets.service")" \
        "$prefix/share/keychaind/org.freedesktop.secrets.service"
    check "a package goes back" "$control" switch off --all --quiet --root "$image"
    check_equal "all is as before after the package" "$(image_tree)" "$before"
    chmod o+x "$work" "${work%/*}"
    check_equal "a user cannot switch all accounts" "$(status_of setpriv --reuid 65534 --regid 65534 --clear-groups \
        env HOME=/nonexistent "$control" switch on --all)" 7
    check_equal "root does not switch in another's home folder" "$(chown 65534 "$HOME" && status_of "$control" switch on)" 7
    chown 0 "$HOME"
else
    skip "all accounts: needs root"
fi

# Without the package, the former provider answers.
check "it switches before the package is removed" "$control" switch on --quiet
gnome=$XDG_DATA_DIRS/dbus-1/services/org.freedesktop.secrets.service
printf '[D-BUS Service]\nName=org.freedesktop.secrets\nExec=%s\n' /bin/false >"$gnome"
make --no-print-directory -C "$project" uninstall PREFIX="$prefix" >/dev/null
sed 's|<servicedir>.*|<standard_session_servicedirs/>|' <(bus_configuration x) >"$work/bus.conf"
dbus-daemon --config-file="$work/bus.conf" --nofork 2>"$work/bus.log" &
# shellcheck disable=SC2034  # stop_everything ends it
bus_pid=$!
export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
eventually ask_bus GetId
asked=$(gdbus call --session --dest org.freedesktop.secrets --object-path / --method org.freedesktop.DBus.Peer.Ping 2>&1 || true)
check_match "after an uninstallation the bus starts the former provider" "$asked" 'ChildExited.*exited with status 1'
