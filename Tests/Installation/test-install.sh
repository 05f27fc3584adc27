# shellcheck shell=bash disable=SC2154
# make install installs every file with the right mode, and make uninstall removes them all.

stage=$work/stage
pam=$(scripts/install-folder pam /usr)
check "PAM comes with modules in the folder that was found" test -f "$pam/pam_unix.so"
check "make install" install_to /usr "$stage"
check_match "make install prints the folders" "$(<"$work/make.log")" "PAM module +$pam"
(cd "$stage" && find . -type f -printf '%m %P\n' | sort -k 2) >"$work/installed"
{
    echo "755 usr/bin/keychainctl"
    echo "755 usr/bin/keychaind"
    echo "755 usr/libexec/keychaind/keychaind-dialog"
    echo "644 usr/share/applications/keychaind-dialog.desktop"
    echo "755 usr/libexec/keychaind/keychaind-folders"
    echo "755 usr/libexec/keychaind/keychaind-start"
    echo "644 usr/lib/sysusers.d/keychaind.conf"
    echo "644 usr/lib/tmpfiles.d/keychaind.conf"
    echo "644 ${pam#/}/pam_keychaind.so"
    echo "644 usr/lib/systemd/user/keychaind.service"
    echo "644 usr/lib/systemd/user/keychaind.socket"
    for file in "$project"/dbus/org.keychaind.*.xml; do echo "644 usr/share/dbus-1/interfaces/${file##*/}"; done
    echo "644 usr/share/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service"
    for file in hidden.desktop keychaind.portal org.freedesktop.secrets.service pam-config; do
        echo "644 usr/share/keychaind/$file"
    done
    echo "644 usr/share/bash-completion/completions/keychainctl"
    echo "644 usr/share/zsh/site-functions/_keychainctl"
    echo "644 usr/share/fish/vendor_completions.d/keychainctl.fish"
    for file in LICENSE README.md SECURITY.md CHANGELOG.md ARCHITECTURE.md Examples/KeySlots/README.md \
        docs/*.md docs/decisions/*.md docs/images/*.{png,svg}; do
        echo "644 usr/share/doc/keychaind/$file"
    done
    echo "755 usr/share/doc/keychaind/Examples/KeySlots/key_slots.py"
    for file in po/*.po; do
        file=${file##*/}
        echo "644 usr/share/locale/${file%.po}/LC_MESSAGES/keychaind.mo"
    done
    echo "644 usr/share/man/man1/keychainctl.1"
    echo "644 usr/share/man/man1/keychaind.1"
} | sort -k 2 >"$work/expected"
check "the files have the right paths and modes" diff "$work/expected" "$work/installed"

binary=$stage/usr/bin/keychaind
check "the binary starts" "$binary" --version
# The variable with which debug builds make keys that cost next to nothing.
check_equal "no environment makes its keys cheap" "$(grep -c KEYCHAIND_CHEAP_KEYS "$binary" || true)" 0
check_equal "the binary is stripped" "$(readelf --sections "$binary" | grep -c '\.symtab' || true)" 0
check_equal "the binary links only libraries that every desktop has" \
    "$(readelf --dynamic "$binary" | sed -n 's/.*NEEDED.*\[\(.*\)\.so.*/\1/p' | grep -v '^ld-' | sort | tr '\n' ' ')" \
    "libc libdbus-1 libgcc_s libgcrypt libm libseccomp libstdc++ "
check_hardened "$stage" usr/bin/keychaind usr/bin/keychainctl usr/libexec/keychaind/keychaind-{dialog,folders} \
    "${pam#/}/pam_keychaind.so"
check_equal "the login module links only PAM and the C library" \
    "$(readelf --dynamic "$stage$pam/pam_keychaind.so" | sed -n 's/.*NEEDED.*\[\(.*\)\.so.*/\1/p' | tr '\n' ' ')" \
    "libpam libc "
check_equal "D-Bus starts the installed binary" \
    "$(grep ^Exec= "$stage/usr/share/keychaind/org.freedesktop.secrets.service")" \
    "Exec=/usr/libexec/keychaind/keychaind-start /usr/bin/keychaind"
# D-Bus, desktop portals, desktops and systemd would read these.
check_equal "nothing is installed that makes keychaind the provider" \
    "$(cd "$stage" && find . -path '*/portals/*' -o -path '*/autostart/*' -o -path '*.wants/*' -o -path '*/pam-configs/*' \
        -o -path '*/services/*' -not -name '*keychaind*')" ''
check_equal "files in folders of others have keychaind's own names" \
    "$(cd "$stage" && find . -type f -not -path '*keychain*')" ''
check "systemd starts the installed binary" \
    grep -qx 'ExecStart=/usr/bin/keychaind' "$stage/usr/lib/systemd/user/keychaind.service"
check_equal "every placeholder is filled in" "$(grep -rlIE '@[A-Z]+@' "$stage/usr/lib" "$stage/usr/share" || true)" ''
check_equal "no file contains the build folder" "$(grep -rlF "$project" "$stage" || true)" ''

check_links "$stage/usr/share/doc/keychaind"

make --no-print-directory -C "$project" uninstall PREFIX=/usr DESTDIR="$stage" >/dev/null
check_equal "make uninstall leaves no file" "$(find "$stage" -type f)" ''
check_equal "make uninstall leaves no document folder" "$(find "$stage" -path '*/doc/*')" ''

stage=$work/local
check "make install below /usr/local" install_to /usr/local "$stage"
make --no-print-directory -C "$project" uninstall DESTDIR="$stage" >/dev/null
check_equal "make uninstall below /usr/local leaves no file" "$(find "$stage" -type f)" ''

# A second installation, stopped by a file that comes after the programs.
stage=$work/interrupted
check "make install before one that is interrupted" install_to /usr "$stage"
chmod 2755 "$stage/usr/bin/keychaind"
chmod 4710 "$stage/usr/libexec/keychaind/keychaind-folders"
cat >"$work/strip" <<'STRIP'
#!/bin/sh
case $* in *pam_keychaind.so) exit 1 ;; esac
exec strip "$@"
STRIP
chmod 755 "$work/strip"
check_equal "make install is interrupted" "$(status_of make --no-print-directory -C "$project" install DOMAIN=no \
    PREFIX=/usr DESTDIR="$stage" STRIP="$work/strip")" 2
check_equal "an interruption leaves the programs with their group" \
    "$(stat --format %a "$stage/usr/bin/keychaind" "$stage/usr/libexec/keychaind/keychaind-folders" | xargs)" "2755 4710"
make --no-print-directory -C "$project" uninstall PREFIX=/usr DESTDIR="$stage" >/dev/null
check_equal "make uninstall removes what an interruption has left" "$(find "$stage" -type f)" ''

check_equal "a folder where PAM does not look is refused" "$(status_of make --no-print-directory install DOMAIN=no \
    PREFIX=/usr/local PAMDIR="$work/nowhere")" 2
check_match "the message names the right folder" "$(<"$work/said")" "PAM does not look in $work/nowhere, but in $pam"
check_equal "a missing file is named" "$(status_of make --no-print-directory install CONTROL=nowhere/keychainctl)" 2
check_match "the message names the missing file" "$(<"$work/said")" 'there is no nowhere/keychainctl yet; run make first'

# The real package of gnome-keyring, with what dpkg knows of it.
stage=$work/neighbour
state=$stage/var/lib/dpkg
mkdir -p "$state/info" "$state/updates"
dpkg --listfiles gnome-keyring | while IFS= read -r file; do if [[ -f $file ]]; then echo "${file#/}"; fi; done |
    tar --create --directory=/ --files-from=- | tar --extract --directory="$stage"
cp /var/lib/dpkg/info/gnome-keyring.* "$state/info"
dpkg --status gnome-keyring >"$state/status"
verify() { dpkg --admindir="$state" --root="$stage" --verify gnome-keyring; }
# The machine may lack documents.
before=$(verify)
(cd "$stage" && find . -type f -not -path './var/*' -exec cksum {} +) >"$work/neighbour.sums"
check "make install beside gnome-keyring" install_to /usr "$stage"
check_equal "after make install, dpkg finds gnome-keyring unchanged" "$(verify)" "$before"
make --no-print-directory -C "$project" uninstall PREFIX=/usr DESTDIR="$stage" >/dev/null
check_equal "after make uninstall, dpkg finds gnome-keyring unchanged" "$(verify)" "$before"
check_equal "after make uninstall only gnome-keyring's files are left" \
    "$(cd "$stage" && find . -type f -not -path './var/*' -exec cksum {} +)" "$(<"$work/neighbour.sums")"

# A package manager that knows the file of an earlier installation.
mkdir "$work/bin"
prefix=$work/prefix
check "make install with a prefix of its own" install_to "$prefix"
check_match "the module's path is to be named" "$(<"$work/make.log")" "PAM does not look in $prefix/lib/security"
printf '#!/bin/sh\necho "keychaind: %s/bin/keychaind"\n' "$prefix" >"$work/bin/dpkg-query"
chmod 755 "$work/bin/dpkg-query"
changed=$(stat -c %z "$prefix/bin/keychainctl")
check_equal "a file of a package is not replaced" \
    "$(status_of env PATH="$work/bin:$PATH" make --no-print-directory install DOMAIN=no PREFIX="$prefix")" 2
check_match "the message names the file of the package" "$(<"$work/said")" "of a package of the system: $prefix/bin/keychaind"
check_equal "nothing else is replaced either" "$(stat -c %z "$prefix/bin/keychainctl")" "$changed"
PATH=$work/bin:$PATH make --no-print-directory uninstall PREFIX="$prefix" >"$work/said" 2>&1
check_match "make uninstall names a file of a package" "$(<"$work/said")" "left $prefix/bin/keychaind,"
check_equal "make uninstall removes all but the file of the package" "$(find "$prefix" -type f)" "$prefix/bin/keychaind"
check "the real package manager's files are recognised" test "$(scripts/foreign-files /bin/x "$(type -P secret-tool)")"
