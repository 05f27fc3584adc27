# shellcheck shell=bash disable=SC2154
# From gnome-keyring to keychaind and back, in sessions of GNOME.

# shellcheck source=Tests/Proof/desktop.sh
source "$scripts/desktop.sh"

desktop_machine gnome-session gnome-shell gnome-session gnome-keyring libpam-gnome-keyring xdg-desktop-portal-gnome

# For functions of desktop.sh.
# shellcheck disable=SC2034
session='env XDG_SESSION_TYPE=wayland XDG_CURRENT_DESKTOP=GNOME gnome-session' other=gnome-keyring-d secrets=502 \
    quit='gnome-session-quit --logout --no-prompt --force' keychain=.local/share/keyrings/login.keyring \
    module='pam_gnome_keyring\.so'
# With Xwayland, libpulse in the shell may wait forever for the display that the shell itself starts.
runs_instead org.gnome.Shell@.service '/usr/bin/gnome-shell --headless --no-x11 --virtual-monitor 1280x800'

is_ready() {
    in_session "gdbus call --session --dest org.gnome.SessionManager --object-path /org/gnome/SessionManager \
        --method org.gnome.SessionManager.IsSessionRunning" | grep -q true && has_portal
}

boot
move_in_and_back
