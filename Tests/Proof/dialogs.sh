# shellcheck shell=bash disable=SC2154
# Functions for the proofs of dialogs: anna's session on the seat, her fingerprint reader, and what dialogs.py checks.

# shellcheck source=Tests/Proof/desktop.sh
source "$scripts/desktop.sh"

# dialog_machine NAME PACKAGE...: unpacks an image with these packages, and with the programs of anna and her attackers.
dialog_machine() {
    unpack "$(image "$1" fprintd polkitd pinentry-gnome3 libgtk-4-1 libgl1-mesa-dri gir1.2-gcr-3 gir1.2-gtk-4.0 \
        "${@:2}")"
    mkdir -p "$machine/opt/programs"
    cp "$scripts"/{dialogs,screen}.py "$project"/Tests/Attacks/{reader,prompter}.py "$machine/opt/programs"
}

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

# begin_seat TYPE DESKTOP COMMAND...: the first login, over ssh, makes the keychain, and opens it in each later one. The
# session of the command is the seat's.
begin_seat() {
    logged_in 'exec sleep infinity' &
    eventually as_anna systemctl --user is-active default.target
    as_root systemd-run --quiet --unit session -p User=anna -p PAMName=login -p WorkingDirectory=/home/anna \
        --setenv=XDG_SEAT=seat0 --setenv=XDG_SESSION_{TYPE="$1",CLASS=user,DESKTOP="${2,,}"} \
        --setenv=XDG_CURRENT_DESKTOP="$2" "${@:3}"
    eventually is_ready
}
is_ready() { as_anna busctl --user status keychaind.Screen; }

# part NAME...: reports the checks of dialogs.py, of $desktop if there are several.
desktop=
part() {
    local status=0
    in_session "python3 /opt/programs/dialogs.py $*" >"$work/steps" 2>"$work/log" || status=$?
    sed -i "s/^ok \|^not /&${desktop:+$desktop: }/" "$work/steps"
    report_steps "$work/steps"
    [[ $status -eq 0 ]] || fail "$* ended with $status: $(tail -n 5 "$work/log")"
}

# For the tests.
# shellcheck disable=SC2034
own=/usr/libexec/keychaind/keychaind-dialog
