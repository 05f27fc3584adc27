# shellcheck shell=bash disable=SC2154
# The Debian packages install, upgrade, remove and purge without a trace, and harm no neighbour.

# shellcheck source=Tests/Proof/machine.sh
source "$scripts/machine.sh"
other=usr/share/dbus-1/services/org.freedesktop.secrets.service

unpack "$(image gnome gnome-keyring libpam-gnome-keyring)"
tree . >"$work/before"
activation=$(sha256sum <"$machine/$other")
mkdir "$machine/packages"
cp "$(packages)"/libpam-keychaind_*.deb "$machine/packages/module.deb"
check_equal "apt does not install the module alone" \
    "$(status_of apt install --yes --no-install-recommends /packages/module.deb)" 100
rm -r "$machine/packages"
check "apt installs the packages without a network" install_packages keychaind libpam-keychaind
check_equal "no file of gnome-keyring has changed" "$(inside dpkg --verify gnome-keyring libpam-gnome-keyring)" ''
check_equal "gnome-keyring's activation file is the same" "$(sha256sum <"$machine/$other")" "$activation"
check_equal "no other activation file names the Secret Service" \
    "$(grep -rlx 'Name=org.freedesktop.secrets' "$machine"/{usr,usr/local,etc}/{share/,}dbus-1 2>/dev/null |
        sed "s|^$machine/||")" "$other"
check_equal "no user unit of keychaind is enabled" \
    "$(find "$machine/etc/systemd/user" "$machine/usr/lib/systemd/user" -name 'keychaind*' -path '*.wants/*')" ''
check_equal "the program has its group" \
    "$(inside stat --format '%U:%G %a' /usr/bin/keychaind)" "root:keychaind 2755"
check_equal "the folder helper is the group's alone" \
    "$(inside stat --format '%U:%G %a' /usr/libexec/keychaind/keychaind-folders)" "root:keychaind 4710"
mapfile -t programs < <(inside dpkg --listfiles keychaind libpam-keychaind |
    while read -r file; do
        [[ ! -f $machine$file || $(head --bytes=4 "$machine$file") != $'\x7fELF' ]] || echo "${file#/}"
    done 2>/dev/null)
check_equal "the packages have three programs and a module" "${#programs[@]}" 4
check "dpkg finds every file as installed" inside dpkg --verify keychaind libpam-keychaind
check_hardened "$machine" "${programs[@]}"
check "PAM calls the module at logins" grep -q pam_keychaind.so "$machine/etc/pam.d/common-auth"
check "the programs start" inside sh -c 'keychaind --version && keychainctl --version'
check "the manual pages are there" inside sh -c 'ls /usr/share/man/man1/keychaind.1.gz /usr/share/man/man1/keychainctl.1.gz'

check "an upgrade" upgrade_packages keychaind libpam-keychaind
check_equal "the program keeps its group" "$(inside stat --format '%U:%G %a' /usr/bin/keychaind)" "root:keychaind 2755"

check "apt removes the packages" apt remove --yes keychaind libpam-keychaind
check "PAM no longer calls the module" bash -c "! grep -rq pam_keychaind '$machine/etc/pam.d'"
check "apt purges the packages" apt purge --yes keychaind libpam-keychaind
tree . >"$work/after"
check "nothing is left, and nothing else has changed" diff "$work/before" "$work/after"

# An account without any provider.
unpack "$(image bare)"
tree . >"$work/before"
check "apt installs the package where there is no provider" install_packages keychaind
check "keychaind is the provider there" \
    inside grep -qx 'Name=org.freedesktop.secrets' "/$other"
check_equal "what is local is the administrator's" \
    "$(find "$machine/usr/local" "$machine/etc/systemd/user" -name '*keychaind*' -o -name '*secrets*')" ''
check "apt purges it" apt purge --yes keychaind
tree . >"$work/after"
check "nothing is left there" diff "$work/before" "$work/after"

# People's keychains are not configuration.
check "apt installs it again" install_packages keychaind
mkdir -p "$machine/var/lib/keychaind/1000/data"
echo kept >"$machine/var/lib/keychaind/1000/data/login.keychain"
check "apt purges it beside keychains" apt purge --yes keychaind
check_equal "a purge keeps keychains" "$(<"$machine/var/lib/keychaind/1000/data/login.keychain")" kept
