#!/bin/bash
# programs.sh store|read: has the programs of a desktop store 500 secrets, or prints the secrets that each finds again.
# In KDE, ten more by the interface of KWallet. Runs in the machine, in a session of its user. Each program is used as a
# person or another program would.
set -euo pipefail

folder=$(dirname "${BASH_SOURCE[0]}")
profile=$HOME/.config/chromium-proof

# visit: opens a page that keeps a cookie for a year, and prints the cookie that the browser sent.
visit() {
    python3 "$folder/cookies.py" "$folder/port" &
    local server=$!
    until [[ -s $folder/port ]]; do sleep 0.05; done
    timeout 60 chromium --headless=new --no-sandbox --disable-gpu --no-first-run \
        --user-data-dir="$profile" --virtual-time-budget=2000 --dump-dom "http://127.0.0.1:$(<"$folder/port")/" \
        2>"$folder/chromium.log" | grep -o 'cookie:[a-z0-9]*' || true
    kill "$server"
    rm -f "$folder/port"
}

# portal_secret APPLICATION: prints the secret that the desktop portal gives it, in a sandbox as Flatpak makes it.
portal_secret() {
    local instance=$XDG_RUNTIME_DIR/.flatpak/$1 bus=$XDG_RUNTIME_DIR/bus
    mkdir -p "$instance"
    printf '[Application]\nname=%s\n\n[Instance]\ninstance-id=%s\n' "$1" "$1" >"$instance/info"
    bwrap --info-fd 8 --unshare-user --unshare-pid --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin \
        --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc --proc /proc --dev /dev --tmpfs /tmp \
        --ro-bind "$folder" "$folder" --ro-bind "$bus" "$bus" --ro-bind "$instance/info" /.flatpak-info \
        python3 "$folder/portal.py" 8>"$instance/bwrapinfo.json" || true
}

kwallet() { kwallet-query --folder "Network Management" "$@" kdewallet; }

applications=(org.example.Mail org.example.Notes org.example.Chat)

case $1 in
store)
    for number in {1..200}; do
        printf 'tool %s\n\xc3\xa9' "$number" |
            secret-tool store --label="Tool $number" service proof number "$number"
    done
    for number in {1..100}; do
        printf 'protocol=https\nhost=host%s.example\nusername=anna\npassword=git %s\n\n' "$number" "$number" |
            git-credential-libsecret store >/dev/null
    done
    python3 "$folder/programs.py" store
    for application in "${applications[@]}"; do portal_secret "$application" >/dev/null; done
    visit >/dev/null
    if [[ $XDG_CURRENT_DESKTOP == KDE ]]; then
        for number in {1..10}; do kwallet --write-password "network $number" <<<"wallet $number"; done
    fi
    ;;
read)
    for number in {1..200}; do
        echo "secret-tool $number $(secret-tool lookup service proof number "$number" | base64)"
    done
    for number in {1..100}; do
        echo "git $number $(printf 'protocol=https\nhost=host%s.example\nusername=anna\n\n' "$number" |
            git-credential-libsecret get | grep password || true)"
    done
    python3 "$folder/programs.py" read
    for application in "${applications[@]}"; do
        echo "portal $application $(portal_secret "$application")"
    done
    echo "chromium $(visit)"
    if [[ $XDG_CURRENT_DESKTOP == KDE ]]; then
        for number in {1..10}; do echo "kwallet $number $(kwallet --read-password "network $number")"; done
    fi
    ;;
esac
