# shellcheck shell=bash disable=SC2154
# Functions for the proofs: a Debian of its own, in systemd-nspawn, with systemd, logind, sshd and another provider.
#
# A machine shares no files with this one. Its user is `anna`, with the password `anna's login`. $suite is Debian 12, if
# the test names no other.

[[ $EUID -eq 0 ]] || { skip "needs root"; exit 0; }

images=$project/.build/proof
suite=${suite:-bookworm}
login_password="anna's login"
machine=''
machine_pid=''

# Packages of every image: what keychaind depends on, so that installing it needs no network, and what logs in.
common=(
    systemd systemd-sysv dbus dbus-user-session libpam-systemd openssh-client openssh-server sshpass procps gcr
    libdbus-1-3 libgcrypt20 libseccomp2 libstdc++6 libpam-runtime pinentry-tty
    libsecret-tools python3-dbus python3-gi gir1.2-secret-1 python3-secretstorage python3-keyring
)

# image NAME PACKAGE...: prints the path of a Debian with these packages, which is made once.
image() {
    local path=$images/$1-$suite.tar check_valid_until=true
    if [[ ! -e $path ]]; then
        mkdir -p "$images"
        # An archive that has not moved for weeks is as good as for this machine.
        eval "$(apt-config shell check_valid_until Acquire::Check-Valid-Until)"
        mmdebstrap --quiet --format=tar --variant=minbase --include="$(IFS=, && echo "${common[*]},${*:2}")" \
            --aptopt="Acquire::Check-Valid-Until \"$check_valid_until\"" "$suite" "$path.part" >&2
        mv "$path.part" "$path"
    fi
    echo "$path"
}

# unpack IMAGE: makes $machine, a machine that is not booted.
unpack() {
    machine=$work/machine-$RANDOM
    mkdir "$machine"
    tar --extract --directory "$machine" --file "$1"
    systemd-machine-id-setup --root="$machine" >/dev/null
    rm -f "$machine/etc/resolv.conf"
    inside useradd --create-home --shell /bin/bash anna
    inside chpasswd <<<"anna:$login_password"
}

# inside COMMAND...: runs it as root in the machine that is not booted.
inside() { systemd-nspawn --quiet --directory="$machine" --register=no --keep-unit --private-network --pipe "$@"; }

boot() {
    local devices=()
    made=()
    make_groups
    # The desktop's portal of documents is a file system.
    [[ ! -e /dev/fuse ]] || devices=(--bind=/dev/fuse)
    # Root may lock memory, as outside of a container: the login password needs it. systemd 258 and newer start only
    # with the unified control groups, which an older nspawn offers on request.
    (
        for group in "${made[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
        export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
        exec systemd-nspawn --quiet --directory="$machine" --register=no --keep-unit --private-network \
            --capability=CAP_IPC_LOCK "${devices[@]}" --boot --console=read-only
    ) >"$work/console" 2>&1 &
    machine_pid=$!
    trap 'power_off; stop_everything' EXIT
    eventually booted
}

# The first process of the machine, as this machine numbers it.
first_process() { pgrep --parent "$machine_pid" --oldest; }
booted() { as_root systemctl is-active multi-user.target; }

# as_root COMMAND...: runs it in the booted machine.
as_root() {
    nsenter --target "$(first_process)" --mount --uts --ipc --net --pid --root --wd=/ -- \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

# logged_in COMMAND: logs anna in with her password through sshd and PAM, and runs a shell command.
logged_in() {
    as_root sshpass -p "$login_password" ssh -q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        anna@127.0.0.1 "$1"
}

# as_anna COMMAND...: runs it as anna in the booted machine, outside of any session, as a service of hers is.
as_anna() {
    as_root setpriv --reuid anna --regid anna --init-groups env HOME=/home/anna XDG_RUNTIME_DIR=/run/user/1000 \
        DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus "$@"
}

# log_out: waits until nothing of the user runs.
log_out() {
    as_root loginctl terminate-user anna 2>/dev/null || true
    eventually logged_out
}
logged_out() { ! as_root pgrep --euid anna; }

power_off() {
    [[ -n $machine_pid ]] || return 0
    kill -TERM "$machine_pid" 2>/dev/null || true
    as_root systemctl poweroff --force --force 2>/dev/null || true
    eventually has_ended "$machine_pid" || kill -KILL "$machine_pid"
    machine_pid=''
    remove_groups
}

# tree FOLDER...: lists every file of the machine with its kind, owner, mode and content, without what a package manager
# notes down itself.
tree() {
    local left_out=(
        '(' -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/cache
        -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/lib/systemd
        -o -path ./etc/ld.so.cache -o -path ./etc/group- -o -path ./etc/gshadow- -o -name '*.pyc' ')' -prune -o
    )
    (
        cd "$machine" || exit
        find "$@" "${left_out[@]}" -printf '%p %y %U:%G %m %l\n'
        find "$@" "${left_out[@]}" -type f -print0 | xargs --null --no-run-if-empty sha256sum
    ) | sort
}

# packages: prints the folder with the built packages.
packages() { echo "$project/.build/deb"; }

# install_packages PACKAGE...: installs built packages with apt, without a network.
install_packages() {
    local name files=()
    mkdir -p "$machine/packages"
    for name; do
        cp "$(packages)"/"${name}"_*.deb "$machine/packages"
        files+=("/packages/$(basename "$(packages)"/"${name}"_*.deb)")
    done
    apt install --yes --no-install-recommends "${files[@]}"
    rm -r "$machine/packages"
}

# upgrade_packages PACKAGE...: installs the next version of built packages, which has the same files.
upgrade_packages() {
    local name files=() next=$work/next
    mkdir "$next" "$machine/packages"
    for name; do
        dpkg-deb --raw-extract "$(packages)"/"${name}"_*.deb "$next/$name"
        sed -i 's/^\(Version: .*\)/\1+next/' "$next/$name/DEBIAN/control"
        dpkg-deb --root-owner-group --build "$next/$name" "$machine/packages/$name.deb" >/dev/null
        files+=("/packages/$name.deb")
    done
    apt install --yes --no-install-recommends "${files[@]}"
    rm -r "$machine/packages" "$next"
}

apt() {
    if [[ -n $machine_pid ]]; then as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@"; else
        inside env DEBIAN_FRONTEND=noninteractive apt-get "$@"; fi
}
