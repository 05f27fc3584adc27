# shellcheck shell=bash disable=SC2154
# Functions for the proofs of desktops: anna's session without a screen, and her way to keychaind and back.
#
# A test defines what differs: $session, which a login runs, is_ready, once it is there, and $quit, which ends it;
# $other, the daemon that is the provider before, $keychain, its file below the home folder, and $module, which opens
# that in a login; $secrets, the number of secrets of programs.sh. DEBIAN names the suite.

suite=${DEBIAN:-sid}
# shellcheck source=Tests/Proof/machine.sh
source "$scripts/machine.sh"

# desktop_machine NAME PACKAGE...: unpacks an image with these packages, and with the programs of anna.
desktop_machine() {
    local helper=usr/share/doc/git/contrib/credential/libsecret
    unpack "$(image "$1" git gcc make pkg-config libc6-dev libsecret-1-dev chromium bubblewrap polkitd libgl1-mesa-dri \
        xdg-desktop-portal "${@:2}")"
    inside make --quiet --directory "/$helper"
    install -m 755 "$machine/$helper/git-credential-libsecret" "$machine/usr/local/bin"
    mkdir -m 777 "$machine/opt/programs"
    cp "$scripts"/{programs.sh,programs.py,cookies.py} "$project/Tests/Session/portal.py" "$machine/opt/programs"
}

# runs_instead UNIT COMMAND: what the desktop's own unit runs, without a screen.
runs_instead() {
    mkdir -p "$machine/etc/systemd/user/$1.d"
    printf '[Service]\nExecStart=\nExecStart=%s\n' "$2" >"$machine/etc/systemd/user/$1.d/headless.conf"
}

begin_session() {
    logged_in "exec $session" >"$work/session.log" 2>&1 &
    login=$!
    eventually is_ready
}

# in_session COMMAND: has anna's service manager run a shell command, as the desktop starts programs.
in_session() { as_anna systemd-run --user --quiet --wait --collect --pipe --working-directory=/home/anna bash -c "$1"; }

# The portal starts late in a login.
has_portal() {
    in_session "gdbus introspect --session --dest org.freedesktop.portal.Desktop \
        --object-path /org/freedesktop/portal/desktop" | grep -q org.freedesktop.portal.Secret
}

end_session() {
    in_session "$quit"
    eventually has_ended "$login"
    log_out
}

provider() { in_session "busctl --user status org.freedesktop.secrets" | sed -n 's/^Comm=//p'; }
use_programs() { in_session "/opt/programs/programs.sh $1"; }

# move_in_and_back: the whole way. Everything is found after each step, and in the end everything is as before, except
# for what the desktop and its programs write themselves: what has changed in a session that only reads.
move_in_and_back() {
    # The first login makes the keychain, which the login opens from the next one on.
    begin_session
    eventually test -s "$machine/home/anna/$keychain"
    end_session
    begin_session
    use_programs store
    use_programs read >"$work/first"
    check_equal "$other is the provider" "$(provider)" "$other"
    end_session
    snapshot >"$work/early"
    begin_session
    use_programs read >"$work/stored"
    check "the programs find what they have stored after the next login" diff "$work/first" "$work/stored"
    check_equal "$secrets secrets are stored" "$(grep -cE '^[^ ]+ .+' "$work/stored")" "$secrets"
    check_match "the browser knows its cookie" "$(grep ^chromium "$work/stored")" '^chromium cookie:[0-9a-f]{16}$'
    check_equal "each of three sandboxes has 64 bytes of its own" \
        "$(grep -oE '^portal .* [0-9a-f]{128}$' "$work/stored" | cut -d' ' -f3 | sort -u | wc -l)" 3
    end_session
    snapshot >"$work/before"

    check "apt installs the packages" install_packages keychaind libpam-keychaind
    begin_session
    use_programs read >"$work/installed"
    check "after the installation every program has its secrets" diff "$work/stored" "$work/installed"
    check_equal "and $other is the provider" "$(provider)" "$other"
    printf %s "$login_password" >"$machine/home/anna/password"
    check_equal "everything is imported" "$(status_of in_session "keychainctl import --password-fd 0 <password")" 0
    check_match "the import says how many items it has verified" "$(<"$work/said")" '5[01][0-9] verified'
    check_equal "keychaind is chosen" "$(status_of in_session "keychainctl switch on")" 0
    end_session

    begin_session
    use_programs read >"$work/moved"
    check_equal "keychaind is the provider" "$(provider)" keychaind
    check "every program still has its secrets, and every sandbox its 64 bytes" diff "$work/stored" "$work/moved"
    in_session "keychainctl doctor" >"$work/doctor" 2>&1 || true
    check_equal "there is one thing to mend" "$(grep -c '^!' "$work/doctor")" 1
    check_match "logins still unlock the other keychain, which only an administrator ends" "$(<"$work/doctor")" \
        "$module in .*sudo keychainctl switch on --all"
    check "an upgrade, while she works" upgrade_packages keychaind libpam-keychaind
    in_session "systemctl --user restart keychaind.service"
    check_equal "keychaind is the provider after a restart" "$(provider)" keychaind
    check_equal "and open" "$(in_session "busctl --user get-property org.freedesktop.secrets \
        /org/freedesktop/secrets/collection/login org.freedesktop.Secret.Collection Locked")" "b false"
    use_programs read >"$work/upgraded"
    check "every program has its secrets after the upgrade" diff "$work/stored" "$work/upgraded"

    check_equal "$other is chosen again" "$(status_of in_session "keychainctl switch off")" 0
    end_session
    begin_session
    use_programs read >"$work/returned"
    check_equal "$other is the provider again" "$(provider)" "$other"
    check "every program has its secrets there" diff "$work/stored" "$work/returned"
    end_session
    check "apt purges the packages" apt purge --yes keychaind libpam-keychaind
    rm "$machine/home/anna/password"
    snapshot >"$work/after"
    check_equal "every other file is as before" "$(changed "$work/before" "$work/after" |
        comm -23 - <(changed "$work/early" "$work/before") | grep -vE "^\./(home/anna/($written)|etc/($kept)$)")" ''
    power_off
}

# What has other names each time, or comes at any time, and what keychaind leaves: keychains, reports, and the group
# that keychains are of.
written='\.cache|\.config/(chromium-proof|KDE(/UserFeedback\.conf)?$)|\.pki'
written+='|\.local/share/(flatpak/db|gvfs-metadata|keychaind)|\.local/state(/keychaind.*)?$'
kept='g?(group|shadow)-?'
snapshot() { tree ./home ./etc ./usr/local; }
# changed SNAPSHOT SNAPSHOT: prints the paths of files that differ.
changed() {
    diff "$1" "$2" | sed -nE 's/^[<>] ([0-9a-f]{64}  )?//p' | sed -E 's/ [a-z] [0-9]+:[0-9]+ [0-7]+ .*//' | sort -u
}
