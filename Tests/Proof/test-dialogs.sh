# shellcheck shell=bash disable=SC2154
# Dialogs of a real GNOME Shell, with the packages and nothing else: anna's finger, yes and recovery key, how long she
# waits for a dialog, and programs of hers that would answer for her.
#
# The shell has no screen, so an extension takes control of the session on the seat, as the shell itself does with one.

# shellcheck source=Tests/Proof/desktop.sh
source "$scripts/desktop.sh"

unpack "$(image gnome-dialogs gnome-shell gnome-session fprintd polkitd pinentry-gnome3 libgtk-4-1 libgl1-mesa-dri \
    gir1.2-gcr-3 gir1.2-atspi-2.0 gir1.2-gtk-4.0 at-spi2-core fonts-dejavu-core)"
runs_instead org.gnome.Shell@.service '/usr/bin/gnome-shell --headless --no-x11 --virtual-monitor 1280x800'
mkdir -p "$machine"/usr/share/gnome-shell/extensions "$machine/opt/programs"
cp -r "$scripts/screen@test" "$machine/usr/share/gnome-shell/extensions"
cp "$scripts/dialogs.py" "$project"/Tests/Attacks/{reader,prompter}.py "$machine/opt/programs"
cat >"$machine/usr/share/glib-2.0/schemas/90_proof.gschema.override" <<'END'
[org.gnome.shell]
enabled-extensions=['screen@test']
welcome-dialog-last-shown-version='99'
END
inside sh -c '/usr/lib/*/glib-2.0/glib-compile-schemas /usr/share/glib-2.0/schemas'
check "apt installs the packages" install_packages keychaind libpam-keychaind keychaind-dialog

# A reader, and when it answers.
attach_reader() {
    as_root mkdir -p /run/fingers
    # Anyone may touch it, and its socket is made anew each time.
    as_root systemd-run --quiet --unit reader -p UMask=0000 --setenv=FP_DRIVERS_{WHITE,ALLOW}LIST=virtual_device_storage \
        --setenv=FP_VIRTUAL_DEVICE_STORAGE=/run/reader --setenv=STATE_DIRECTORY=/run/fingers /usr/libexec/fprintd -t
    eventually as_root busctl status net.reactivated.Fprint
    as_root python3 /opt/programs/reader.py /run/reader enrol anna
    as_root systemd-run --quiet --unit touches -p StandardOutput=file:/run/touches stdbuf -oL \
        dbus-monitor --system --profile member=VerifyStatus
}

# The first login, over ssh, makes the keychain, and opens it in each later one. The session is the seat's.
begin_session() {
    logged_in 'exec sleep infinity' &
    eventually as_anna systemctl --user is-active default.target
    as_root systemd-run --quiet --unit session -p User=anna -p PAMName=login -p WorkingDirectory=/home/anna \
        --setenv=XDG_SEAT=seat0 --setenv=XDG_SESSION_{TYPE=wayland,CLASS=user,DESKTOP=gnome} --setenv=XDG_CURRENT_DESKTOP=GNOME \
        gnome-session
    eventually is_ready
}
is_ready() { as_anna busctl --user status keychaind.Screen; }

# part NAME...: reports the checks of dialogs.py.
part() {
    local status=0
    in_session "python3 /opt/programs/dialogs.py $*" >"$work/steps" 2>"$work/log" || status=$?
    report_steps "$work/steps"
    [[ $status -eq 0 ]] || fail "$* ended with $status: $(tail -n 5 "$work/log")"
}

own=/usr/libexec/keychaind/keychaind-dialog
boot
attach_reader
begin_session
# A second shell takes the accessibility bus away, so it comes last.
part begin person speed style accessibility
as_root mkdir -p /etc/keychaind
as_root touch /etc/keychaind/accessible-dialogs
part accessibility=allowed
as_root rm /etc/keychaind/accessible-dialogs
part names display
as_root chmod 000 "$own"
part alone undelayed
power_off
