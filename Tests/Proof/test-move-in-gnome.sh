# shellcheck shell=bash disable=SC2154
# From gnome-keyring to keychaind and back: 500 secrets of real programs, by the packages and the commands alone.

# shellcheck source=Tests/Proof/machine.sh
source "$scripts/machine.sh"

unpack "$(image gnome-programs gnome-keyring libpam-gnome-keyring git gcc make pkg-config libc6-dev libsecret-1-dev \
    chromium xdg-desktop-portal)"
inside make --quiet --directory /usr/share/doc/git/contrib/credential/libsecret
install -m 755 "$machine/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret" "$machine/usr/local/bin"
# This backend of the portal needs a display.
rm -f "$machine/usr/share/xdg-desktop-portal/portals/gtk.portal"
mkdir -m 777 "$machine/opt/programs"
cp "$scripts"/{programs.sh,programs.py,cookies.py} "$machine/opt/programs"
# As a display manager has it.
printf 'auth optional pam_gnome_keyring.so\nsession optional pam_gnome_keyring.so auto_start\n' \
    >>"$machine/etc/pam.d/sshd"

boot
provider() { logged_in "busctl --user status org.freedesktop.secrets" | sed -n 's/^Comm=//p'; }

# The first login makes the keyring, which the daemon serves from the next login on.
# shellcheck disable=SC2088  # for the shell of the login
logged_in "until [[ -s ~/.local/share/keyrings/login.keyring ]]; do sleep 0.1; done"
log_out
logged_in "/opt/programs/programs.sh store"
check_equal "gnome-keyring is the provider" "$(provider)" gnome-keyring-d
logged_in "/opt/programs/programs.sh read" >"$work/first"
log_out
logged_in "/opt/programs/programs.sh read" >"$work/stored"
check "with gnome-keyring the programs find what they have stored" diff "$work/first" "$work/stored"
check_equal "500 secrets are stored" "$(wc -l <"$work/stored")" 500
check_match "the browser knows its cookie" "$(grep ^chromium "$work/stored")" '^chromium cookie:[0-9a-f]{16}$'
log_out
(tree ./home ./etc/pam.d ./etc/xdg) >"$work/before"

check "apt installs the packages" install_packages keychaind libpam-keychaind
logged_in "/opt/programs/programs.sh read" >"$work/installed"
check "after the installation gnome-keyring still serves" diff "$work/stored" "$work/installed"
check_equal "and is the provider" "$(provider)" gnome-keyring-d

printf %s "$login_password" >"$machine/home/anna/password"
logged_in "keychainctl import --password-fd 0 <password" >"$work/imported" 2>&1 || true
check_match "the import says how many items it has verified" "$(<"$work/imported")" '50[0-9]'
logged_in "keychainctl switch on" >"$work/switched" 2>&1 || true
log_out

logged_in "/opt/programs/programs.sh read" >"$work/moved"
check_equal "keychaind is the provider" "$(provider)" keychaind
check "every program still has its secrets" diff "$work/stored" "$work/moved"
logged_in "keychainctl doctor" >"$work/doctor" 2>&1 || true
check_equal "there is one thing to mend" "$(grep -c '^!' "$work/doctor")" 1
check_match "logins still unlock gnome-keyring, which only an administrator ends" "$(<"$work/doctor")" \
    'pam_gnome_keyring\.so in .*sudo keychainctl switch on --all'

logged_in "keychainctl switch off" >"$work/back" 2>&1 || true
log_out
logged_in "/opt/programs/programs.sh read" >"$work/returned"
check_equal "gnome-keyring is the provider again" "$(provider)" gnome-keyring-d
check "every program has its secrets there" diff "$work/stored" "$work/returned"
log_out
check "apt purges the packages" apt purge --yes keychaind libpam-keychaind
rm "$machine/home/anna/password"
(tree ./home ./etc/pam.d ./etc/xdg) >"$work/after"
# The programs and gnome-keyring write their own files while they run; keychaind's data stay.
changed() { diff "$work/before" "$work/after" | grep '^[<>]' |
    grep -vE ' \./home/anna/(\.config/chromium-proof|\.cache|\.local/share/keyrings|\.local/share/keychaind|\.local/state[ /]|\.pki)' || true; }
check_equal "every other file is as before" "$(changed)" ''
power_off
