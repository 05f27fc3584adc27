# shellcheck shell=bash disable=SC2154
# keychaind's own dialog on Plasma's KWin, sway and Xfce's window manager, with the packages and nothing else: anna's
# finger, password, yes and recovery key, and a second compositor that would answer for her. With sway both buses are
# dbus-broker's, which names its launcher as its process.
#
# The screen is an X server without a monitor, and each compositor a window on it, as when somebody tries one. Anna
# reads it with tesseract.

# shellcheck source=Tests/Proof/dialogs.sh
source "$scripts/dialogs.sh"

# begin NAME TYPE DISPLAY COMMAND...: a session of a desktop on a machine of its own.
begin() {
    desktop=$1
    dialog_machine screens-dialogs kwin-wayland sway xfwm4 xvfb xdotool imagemagick tesseract-ocr gir1.2-gtk-3.0 \
        gir1.2-gtklayershell-0.1 fonts-noto-core dbus-broker
    # The package takes both buses over.
    [[ $1 == sway ]] || for scope in system global; do
        systemctl --quiet --root="$machine" "--$scope" disable dbus-broker.service
    done
    # Where KWallet is installed, as with KWin, keychaind serves whoever chooses it.
    [[ $1 == KDE ]] || check "$1: apt removes KWallet" apt purge --yes kwallet6
    check "$1: apt installs the packages" install_packages keychaind libpam-keychaind keychaind-dialog
    boot
    attach_reader
    as_root systemd-run --quiet --unit monitor Xvfb :9 -screen 0 1280x800x24 -ac -noreset -nolisten tcp
    begin_seat "$2" "$1" env DISPLAY=:9 "${@:4}"
    bus=dbus
    [[ $1 != sway ]] || bus=dbus-broker
    check_equal "$1: the session's bus is $bus.service" "$(as_anna systemctl --user list-units --plain --no-legend \
        --state running dbus.service dbus-broker.service | cut -d ' ' -f 1)" "$bus.service"
    as_anna systemctl --user set-environment "$3" GDK_BACKEND="$2" WLR_BACKENDS=headless
    [[ $1 != KDE ]] || { in_session "keychainctl switch on --now" && logged_in true; } >/dev/null
}
is_ready() {
    as_anna systemd-run --user --quiet --unit screen -E DISPLAY=:9 python3 /opt/programs/screen.py || true
    as_anna busctl --user status keychaind.Screen
}

# As logind notes the program that takes control of a session. KWin takes it with a screen of the computer only.
take_control() {
    # shellcheck disable=SC2016
    as_root sh -c 'name=$(busctl list --no-legend | sed -n "/ $1 /s/ .*//p"); [ -n "$name" ] &&
        echo "CONTROLLER=$name" >>"$(grep -l SEAT=seat0 /run/systemd/sessions/*)"' sh "$1"
}

# try_dialogs COMPOSITOR: a second one is started from that command.
try_dialogs() {
    part "begin=$dialog person=$dialog covered 'second=$1'"
    as_root chmod 000 "$own"
    part "'alone=$1'"
    as_root chmod 755 "$own"
}

dialog=keychaind-dialog
begin KDE wayland WAYLAND_DISPLAY=wayland-0 \
    kwin_wayland_wrapper --x11-display :9 --width 1280 --height 800 --no-lockscreen --socket wayland-0
eventually take_control kwin_wayland
try_dialogs 'kwin_wayland --virtual --no-lockscreen --socket wayland-00'
as_root pkill -KILL -x kwin_wayland
eventually take_control kwin_wayland
part replaced
power_off

begin sway wayland WAYLAND_DISPLAY=wayland-1 \
    env WLR_BACKENDS=x11,libinput WLR_LIBINPUT_NO_DEVICES=1 LIBSEAT_BACKEND=logind sway --config /dev/null
try_dialogs 'sway --config /dev/null'
power_off

begin Xfce x11 DISPLAY=:9 xfwm4 --compositor=off
# It takes the windows that are there before it, and gives them no focus.
eventually as_anna env DISPLAY=:9 xdotool get_desktop
try_dialogs 'sway --config /dev/null'
power_off
