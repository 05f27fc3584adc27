# shellcheck shell=bash disable=SC2154
# Functions for the tests of this suite; sourced by each.
#
# All consumers are built in one folder, which is kept, so that what they depend on is compiled once.

swift=${SWIFT:-swift}
built=$project/.build/consumers
packages=$built/packages
# A package of another developer knows nothing of this one's continuous integration.
unset CI KEYCHAIND_CI SUITES

# Puts the consumers beside a folder `keychaind`, as the manifest of one that depends on a path says.
place() {
    mkdir -p "$packages"
    ln -sfn "$project" "$packages/keychaind"
    rm -rf "${packages:?}/$1"
    # New files, so that SwiftPM plans again.
    cp -r "$scripts/$1" "$packages/$1"
}

# release: publishes the files of the project as a version of https://example.org/keychaind.git, a repository of this
# test.
release() {
    local repository=$built/keychaind.git files=$work/files
    git -C "$project" ls-files -z --cached --others --exclude-standard >"$work/names"
    mkdir "$files"
    (cd "$project" && tar --create --null --files-from="$work/names" --ignore-failed-read) | tar --extract -C "$files"
    [[ -d $repository ]] || git init --quiet --bare "$repository"
    local git=(git --git-dir="$repository" --work-tree="$files" -c user.name=keychaind -c user.email=keychaind@example.org)
    "${git[@]}" add --all
    # The same files keep their version, and what is built of them.
    if ! "${git[@]}" rev-parse --quiet --verify HEAD >/dev/null || ! "${git[@]}" diff --quiet --cached HEAD; then
        "${git[@]}" commit --quiet --message=Release
        "${git[@]}" tag "0.1.$("${git[@]}" rev-list --count HEAD)"
    fi
    export GIT_CONFIG_COUNT=1
    export GIT_CONFIG_KEY_0=url.file://$repository.insteadOf GIT_CONFIG_VALUE_0=https://example.org/keychaind.git
}

# swift_package COMMAND NAME [OPTION...]: runs swift in the folder of a consumer, with caches of this suite.
swift_package() {
    "$swift" "$1" --package-path "$packages/$2" --scratch-path "$built/scratch" --cache-path "$built/cache" \
        --config-path "$built/configuration" --security-path "$built/security" "${@:3}"
}

# consumer NAME [OPTION...]: builds a consumer, and starts a bus and a daemon for its program.
consumer() {
    place "$1"
    if grep -q example.org/keychaind.git "$packages/$1/Package.swift"; then
        release
        # Otherwise SwiftPM stays at the version that it has checked out for the last consumer.
        swift_package package "$1" update >"$work/update.log" 2>&1
    fi
    program=$(swift_package build "$1" --show-bin-path)/App
    # Another consumer's.
    rm -f "$program"
    if ! swift_package build "$@" >"$work/build.log" 2>&1; then
        fail "$1 builds: $(grep --max-count=10 --after-context=5 'error: ' "$work/build.log" || tail "$work/build.log")"
        exit 0
    fi
    pass "$1 builds"
    own_home
    own_bus
    start_daemon
}
