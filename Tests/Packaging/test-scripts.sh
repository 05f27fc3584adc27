# shellcheck shell=bash disable=SC2154
# Scripts are strict and executable, and the list of packages is well-formed.

for script in scripts/alone scripts/docs scripts/foreign-files scripts/install-folder scripts/install-packages scripts/lint scripts/prepare scripts/run scripts/test .ci/run Tests/Scripts/run; do
    check "$script is strict" grep -q '^set -euo pipefail$' "$script"
    check "$script is executable" test -x "$script"
done

step="(build|run|test|lint|bench|deb|proof|compare)"
malformed=$(awk -v steps="^$step(,$step)*$" '!/^#/ && NF && (NF < 3 || $2 !~ steps)' scripts/packages.txt)
check_equal "each package has steps and a reason" "$malformed" ''
check_equal "each package is listed once" "$(awk '!/^#/ && NF { print $1 }' scripts/packages.txt | sort | uniq -d)" ''
check_equal "install-packages does nothing if no package is missing" "$(scripts/install-packages test 2>&1)" ''
check_equal "install-packages without a step fails" "$(status_of scripts/install-packages)" 64

# A machine of stand-ins, on which no package is installed and the user is not root. apt-get and sudo write down how
# they are called; the files $work/no-sudo and $work/no-network make them fail.
machine=$work/machine
mkdir "$machine"
stand_in() { cat >"$machine/$1" && chmod +x "$machine/$1"; }
stand_in dpkg-query <<<'#!/bin/sh'
stand_in apt-cache <<<'#!/bin/sh'
printf '#!/bin/sh\necho 1000\n' | stand_in id
printf '#!/bin/sh\n[ ! -e %s ] && exec "$@"\n' "$work/no-sudo" | stand_in sudo
printf '#!/bin/sh\necho "apt-get $*" >>%s\n[ ! -e %s ]\n' "$work/calls" "$work/no-network" | stand_in apt-get
# tried COMMAND...: prints the exit status of a command or function; the output goes to $work/said.
tried() {
    local status=0
    "$@" >"$work/said" 2>&1 || status=$?
    echo "$status"
}
on_machine() { env -u YES PATH="$machine:$PATH" "$@" </dev/null; }
# answer WORD COMMAND...: runs it on a terminal, and answers its question.
answer() { printf '%s\n' "$1" | PATH="$machine:$PATH" script --quiet --return --command "env -u YES ${*:2}" /dev/null; }
calls() { cat "$work/calls" 2>/dev/null || true; rm -f "$work/calls"; }
named=$(awk '!/^#/ && index("," $2 ",", ",run,") { print $1 }' scripts/packages.txt | paste --serial --delimiters=' ')
command="apt-get install --no-install-recommends $named"

check_equal "without a terminal, install-packages fails" "$(tried on_machine scripts/install-packages run)" 1
check_match "it says how to install the packages" "$(<"$work/said")" "YES=1 .* run: sudo $command$"
check_equal "on a terminal, No is a failure" "$(tried answer n scripts/install-packages run)" 1
check_match "it lists the packages and asks" "$(<"$work/said")" "$named.*Install them .*\[y/N\]"
check_equal "nothing was installed so far" "$(calls)" ''
check_equal "Yes on a terminal installs" "$(tried answer y scripts/install-packages run)" 0
check_match "it installs the packages that it has listed" "$(calls)" "apt-get install .* $named$"
check_equal "YES=1 installs" "$(tried on_machine env YES=1 scripts/install-packages run)" 0
check_match "it asks nothing" "$(calls)" "apt-get install .* $named$"
touch "$work/no-sudo"
check_equal "without sudo it fails" "$(tried on_machine env YES=1 scripts/install-packages run)" 1
check_match "it names the command for an administrator" "$(tail -n 1 "$work/said")" "administrator .*: $command$"
check_equal "nothing was installed without sudo" "$(calls)" ''
rm "$work/no-sudo"
touch "$work/no-network"
check_equal "without a network it fails" "$(tried on_machine env YES=1 scripts/install-packages run)" 1
check_match "it says what to do with a network" "$(tail -n 1 "$work/said")" "connect and try again: sudo $command$"
rm "$work/no-network"
stand_in dpkg-query <<'END'
#!/bin/sh
for name; do echo "<$name installed>"; done
END
calls >"$work/said"
check_equal "if all are installed it succeeds" "$(tried on_machine scripts/install-packages build run test)" 0
check_equal "it then needs neither apt-get nor the network" "$(calls)$(<"$work/said")" ''

# A system of another kind.
other=$work/other
mkdir "$other"
ln -s /usr/bin/* "$other"
rm -f "$other"/{apt-get,dpkg-query,msgfmt}
check_equal "without apt-get and a tool it fails" "$(tried env PATH="$other" scripts/install-packages run)" 1
check_match "it lists the packages" "$(<"$work/said")" "$named"
check_match "it names the tool, and the page with packages" "$(tail -n 1 "$work/said")" 'msgfmt is missing; .*CONTRIBUTING'
ln -s "$(command -v msgfmt)" "$other"
check_equal "without apt-get but with all tools it goes on" "$(tried env PATH="$other" scripts/install-packages run)" 0
rm "$other/cc"
printf '#!/bin/sh\n! grep -q "<fido.h>" && exec /usr/bin/cc -fsyntax-only -x c++ /dev/null\n' >"$other/cc"
chmod +x "$other/cc"
check_equal "without apt-get and a header it fails" "$(tried env PATH="$other" scripts/install-packages run)" 1
check_match "it names the header" "$(tail -n 1 "$work/said")" 'fido.h is missing'

# prepare: Swift, and room for temporary files.
check_equal "without Swift, prepare fails" "$(tried env SWIFT=/nonexistent/swift scripts/prepare run)" 1
check_match "it says where to get Swift" "$(<"$work/said")" '^prepare: there is no Swift .*swift\.org/install/linux$'
printf '#!/bin/sh\necho "Swift version 6.2.2 (swift-6.2.2-RELEASE)"\n' | stand_in swift
check_equal "with an old Swift it fails" "$(tried env SWIFT="$machine/swift" scripts/prepare run)" 1
check_match "it says which Swift is needed" "$(<"$work/said")" '^prepare: Swift 6\.2\.2 is too old; get 6\.2\.3 or newer at'
stand_in swift <<'END'
#!/bin/sh
[ "$1" != --version ] || echo "Swift version 6.10-dev"
END
check_equal "with a newer Swift it goes on" "$(tried env SWIFT="$machine/swift" scripts/prepare run)" 0
check_equal "without the folder for temporary files it fails" \
    "$(tried env SWIFT="$machine/swift" TMPDIR="$work/nowhere" scripts/prepare run)" 1
check_match "it says so" "$(<"$work/said")" "^prepare: $work/nowhere has too little room .* set TMPDIR"
mkdir "$work/full"
full() {
    # shellcheck disable=SC2016  # for the shell that is started
    unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=1m tmpfs "$1" && TMPDIR=$1 SWIFT=$2 scripts/prepare run' \
        sh "$work/full" "$machine/swift"
}
if unshare --map-root-user --mount true 2>/dev/null; then
    check_equal "with a full folder for temporary files it fails" "$(tried full)" 1
    check_match "it says how much room is missing" "$(<"$work/said")" "^prepare: $work/full has too little room \(1 of 500 MiB\)"
else
    skip "a full folder for temporary files: needs namespaces"
fi

# The Swift packages, in a clone with an empty cache, without a network.
clone=$work/clone
mkdir "$clone"
cp -r Package.swift scripts "$clone"
printf '#!/bin/sh\n' >"$clone/scripts/install-packages"
offline() {
    XDG_CACHE_HOME=$work/empty GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
        unshare --map-root-user --net "$clone/scripts/prepare" build
}
if unshare --map-root-user --net true 2>/dev/null; then
    check_equal "without a network and the Swift packages it fails" "$(tried offline)" 1
    check_match "it says that the network is missing" "$(tail -n 1 "$work/said")" \
        '^prepare: the Swift packages were not fetched; .* connect'
else
    skip "Swift packages without a network: needs namespaces"
fi

# alone: one test run of a checkout at a time. It keeps its lock in the checkout.
unset KEYCHAIND_ALONE
mkfifo "$work/gate"
start_first() {
    # shellcheck disable=SC2016  # for the shell that is started
    "$clone/scripts/alone" bash -c 'echo $$ >"$1/first" && "$2" echo within >"$1/within" && read -r <"$1/gate"; echo end >>"$1/order"' \
        bash "$work" "$clone/scripts/alone" &
    first=$!
    eventually test -s "$work/within"
}
start_first
check_equal "a command of a run does not wait for it" "$(<"$work/within")" within
"$clone/scripts/alone" sh -c "echo second >>'$work/order'" 2>"$work/second.log" &
second=$!
check "a second run says that it waits" eventually grep -q 'waits for its end' "$work/second.log"
check "it has not begun" test ! -e "$work/order"
echo >"$work/gate"
check "both succeed" wait "$first" "$second"
check_equal "the second begins after the end of the first" "$(paste --serial "$work/order")" $'end\tsecond'
check_equal "alone has the status of its command" "$(tried "$clone/scripts/alone" sh -c 'exit 3')" 3
rm "$work/within"
start_first
kill -KILL "$first"
check "a run ends with its shell" eventually has_ended "$(<"$work/first")"
check_equal "the next does not wait" "$("$clone/scripts/alone" echo begun 2>&1)" begun
