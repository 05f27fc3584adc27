# shellcheck shell=bash disable=SC2154
# From KWallet to keychaind and back: secrets of programs of the Secret Service and of KDE.

# shellcheck source=Tests/Proof/machine.sh
source "$scripts/machine.sh"

unpack "$(image kwallet libkf5wallet-bin libpam-kwallet5 libqca-qt5-2-plugins socat)"
mkdir -m 777 "$machine/opt/programs"
cp "$scripts/wallet.py" "$machine/opt/programs"
# As a display manager has it; this login has no display.
printf 'auth optional pam_kwallet5.so force_run\nsession optional pam_kwallet5.so auto_start force_run\n' \
    >>"$machine/etc/pam.d/sshd"
mkdir -p "$machine/home/anna/.config"
printf '[Wallet]\nFirst Use=false\n\n[org.freedesktop.secrets]\napiEnabled=true\n' >"$machine/home/anna/.config/kwalletrc"
inside chown --recursive anna:anna /home/anna

boot
# What Plasma starts at a login.
session='export QT_QPA_PLATFORM=offscreen; /usr/share/libpam-kwallet-common/pam_kwallet_init; '
provider() { logged_in "$session busctl --user status org.freedesktop.secrets" | sed -n 's/^Comm=//p'; }
# kwalletd5 does not end with its session, and writes wallets when it closes them.
log_out_of_plasma() {
    as_root runuser -u anna -- env XDG_RUNTIME_DIR=/run/user/1000 busctl --user call org.kde.kwalletd5 \
        /modules/kwalletd5 org.kde.KWallet closeAllWallets >"$work/closed" 2>&1 || true
    as_root pkill -KILL kwalletd5 || true
    log_out
}

# The first login makes the wallet, which the daemon serves from the next login on.
logged_in "$session true"
log_out_of_plasma
logged_in "$session python3 /opt/programs/wallet.py store"
log_out_of_plasma
logged_in "$session python3 /opt/programs/wallet.py read" >"$work/stored"
check_equal "KWallet is the provider" "$(provider)" kwalletd5
check_equal "the programs find what they have stored" "$(grep -c ' secret ' "$work/stored")" 150
log_out_of_plasma

check "apt installs the packages" install_packages keychaind libpam-keychaind
printf %s "$login_password" >"$machine/home/anna/password"
logged_in "$session keychainctl import --from kwallet --password-fd 0 <password" >"$work/imported" 2>&1 || true
check_match "the import says what it has copied" "$(<"$work/imported")" '150'
logged_in "keychainctl switch on" >"$work/switched" 2>&1 || true
log_out_of_plasma

logged_in "python3 /opt/programs/wallet.py read" >"$work/moved"
check_equal "keychaind is the provider" "$(logged_in "busctl --user status org.freedesktop.secrets" |
    sed -n 's/^Comm=//p')" keychaind
check "every program still has its secrets" diff "$work/stored" "$work/moved"

logged_in "keychainctl switch off" >"$work/back" 2>&1 || true
log_out_of_plasma
logged_in "$session python3 /opt/programs/wallet.py read" >"$work/returned"
check "KWallet has them as before" diff "$work/stored" "$work/returned"
check_equal "KWallet is the provider again" "$(provider)" kwalletd5
log_out_of_plasma
power_off
