# shellcheck shell=bash disable=SC2154
# From KWallet to keychaind and back, in sessions of Plasma.

# shellcheck source=Tests/Proof/desktop.sh
source "$scripts/desktop.sh"

desktop_machine kde-session plasma-desktop plasma-workspace libxcb-cursor0 kwallet6 libpam-kwallet5 \
    xdg-desktop-portal-kde

# For functions of desktop.sh.
# shellcheck disable=SC2034
session='env XDG_SESSION_TYPE=wayland XDG_CURRENT_DESKTOP=KDE startplasma-wayland' other=ksecretd secrets=512 \
    quit='busctl --user call org.kde.Shutdown /Shutdown org.kde.Shutdown logout' \
    keychain=.local/share/kwalletd/kdewallet.kwl module='pam_kwallet5\.so'
# For a login without a display.
sed -i 's/pam_kwallet5\.so auto_start/& force_run/' "$machine/etc/pam.d/common-session"
runs_instead plasma-kwin_wayland.service '/usr/bin/kwin_wayland_wrapper --virtual --xwayland'

# A logout while the splash screen is there is lost.
is_ready() {
    as_anna systemctl --user is-active plasma-plasmashell.service && has_portal && ! as_root pgrep ksplash
}

boot
move_in_and_back
