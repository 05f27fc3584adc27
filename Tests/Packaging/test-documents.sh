# shellcheck shell=bash disable=SC2154
# The manual page renders and names every option, all links work, and CONTRIBUTING.md names all packages for the build.

for manual in docs/man/*.1; do
    check_equal "${manual##*/} renders without a warning" \
        "$(man --warnings --encoding=utf8 --local-file "$manual" 2>&1 >/dev/null)" ''
done

options() { grep -oE -- '--[a-z][a-z-]+' | sort -u | tr '\n' ' '; }
manual=$(MANWIDTH=120 man --encoding=ascii --local-file docs/man/keychaind.1 | sed -n '/^OPTIONS/,/^[A-Z]* STATUS/p' | col -b)
check_equal "the manual has the same options as --help" "$(options <<<"$manual")" "$("$KEYCHAIND" --help 2>&1 | options)"

check_links "$project"
for decision in docs/decisions/[0-9]*.md; do
    check "${decision##*/} is in the index" grep -qF "(${decision##*/})" docs/decisions/README.md
done

# Every package for the build in packages.txt (Debian) is in the table of CONTRIBUTING.md for other systems.
needed=$(awk '!/^#/ && index("," $2 ",", ",build,") { print $1 }' scripts/packages.txt | sort)
counterparts() {
    sed 's/^git$/git git/; s/^gettext$/gettext gettext/; s/^pkg-config$/pkg-config pkgconf-pkg-config pkgconf/
        s/^g++$/& gcc-c[+][+] gcc/
        s/^libdbus-1-dev$/& dbus-devel dbus/; s/^libgcrypt20-dev$/& libgcrypt-devel libgcrypt/
        s/^libtomlplusplus-dev$/& tomlplusplus-devel tomlplusplus/
        s/^libseccomp-dev$/& libseccomp-devel libseccomp/
        s/^libtss2-dev$/& tpm2-tss-devel tpm2-tss/; s/^libgtk-4-dev$/& gtk4-devel gtk4/; s/^libfido2-dev$/& libfido2-devel libfido2/; s/^libpam0g-dev$/& pam-devel pam/' <<<"$needed"
}
while read -r package fedora arch; do
    check "CONTRIBUTING names $package for Fedora" grep -qE "^\| Fedora .*[ \`]${fedora:-unknown}[ \`]" CONTRIBUTING.md
    check "CONTRIBUTING names $package for Arch" grep -qE "^\| Arch .*[ \`]${arch:-${fedora:-unknown}}[ \`]" CONTRIBUTING.md
done < <(counterparts)
