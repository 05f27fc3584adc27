# shellcheck shell=bash disable=SC2154
# Scripts are strict and executable, and the list of packages is well-formed.

for script in scripts/docs scripts/foreign-files scripts/install-folder scripts/install-packages scripts/lint scripts/run scripts/test .ci/run Tests/Scripts/run; do
    check "$script is clean" shellcheck "$script"
    check "$script is strict" grep -q '^set -euo pipefail$' "$script"
    check "$script is executable" test -x "$script"
done
check "keychaind-start is clean" shellcheck dbus/keychaind-start
for script in Tests/{Scripts,Packaging,Interoperability,Session,Documentation,Proof}/*.sh; do
    check "$script is clean" shellcheck --external-sources "$script"
done

step="(build|run|test|deb|proof|compare)"
malformed=$(awk -v steps="^$step(,$step)*$" '!/^#/ && NF && (NF < 3 || $2 !~ steps)' scripts/packages.txt)
check_equal "each package has steps and a reason" "$malformed" ''
check_equal "each package is listed once" "$(awk '!/^#/ && NF { print $1 }' scripts/packages.txt | sort | uniq -d)" ''
check_equal "install-packages does nothing if no package is missing" "$(scripts/install-packages test 2>&1)" ''
check_equal "install-packages without a step fails" "$(status_of scripts/install-packages)" 1
