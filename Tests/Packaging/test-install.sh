# shellcheck shell=bash disable=SC2154
# make install installs every file with the right mode, and make uninstall removes them all.

stage=$work/stage
check "make install" install_to /usr "$stage"
(cd "$stage" && find . -type f -printf '%m %P\n' | sort -k 2) >"$work/installed"
{
    echo "755 usr/bin/keychaind"
    echo "755 usr/libexec/keychaind/keychaind-folders"
    echo "644 usr/lib/sysusers.d/keychaind.conf"
    echo "644 usr/lib/tmpfiles.d/keychaind.conf"
    echo "644 usr/lib/security/pam_keychaind.so"
    echo "644 usr/lib/systemd/user/keychaind.service"
    echo "644 usr/lib/systemd/user/keychaind.socket"
    for file in "$project"/dbus/*.xml; do echo "644 usr/share/dbus-1/interfaces/${file##*/}"; done
    echo "644 usr/share/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service"
    echo "644 usr/share/dbus-1/services/org.freedesktop.secrets.service"
    echo "644 usr/share/xdg-desktop-portal/portals/keychaind.portal"
    for file in LICENSE README.md SECURITY.md CHANGELOG.md ARCHITECTURE.md Examples/KeySlots/README.md \
        docs/*.md docs/decisions/*.md docs/images/*.png; do
        echo "644 usr/share/doc/keychaind/$file"
    done
    echo "755 usr/share/doc/keychaind/Examples/KeySlots/key_slots.py"
    echo "644 usr/share/man/man1/keychaind.1"
    echo "644 usr/share/polkit-1/actions/org.keychaind.policy"
} | sort -k 2 >"$work/expected"
check "the files have the right paths and modes" diff "$work/expected" "$work/installed"

binary=$stage/usr/bin/keychaind
check "the binary starts" "$binary" --version
check_equal "the binary is stripped" "$(readelf --sections "$binary" | grep -c '\.symtab' || true)" 0
check_equal "the binary links only libraries that every desktop has" \
    "$(readelf --dynamic "$binary" | sed -n 's/.*NEEDED.*\[\(.*\)\.so.*/\1/p' | grep -v '^ld-' | sort | tr '\n' ' ')" \
    "libc libdbus-1 libgcc_s libgcrypt libm libseccomp libsqlite3 libstdc++ "
check_equal "the login module links only PAM and the C library" \
    "$(readelf --dynamic "$stage/usr/lib/security/pam_keychaind.so" | sed -n 's/.*NEEDED.*\[\(.*\)\.so.*/\1/p' | tr '\n' ' ')" \
    "libpam libc "
check "D-Bus starts the installed binary" \
    grep -qx 'Exec=/usr/bin/keychaind' "$stage/usr/share/dbus-1/services/org.freedesktop.secrets.service"
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
check_equal "older portals and polkits find their files in /usr/share" \
    "$(find "$stage/usr/share" -type f -printf '%P ')" \
    "polkit-1/actions/org.keychaind.policy xdg-desktop-portal/portals/keychaind.portal "
make --no-print-directory -C "$project" uninstall DESTDIR="$stage" >/dev/null
check_equal "make uninstall removes the files in /usr/share" "$(find "$stage" -type f)" ''
