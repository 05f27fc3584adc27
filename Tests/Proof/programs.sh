#!/bin/bash
# programs.sh store|read: has the programs of a desktop store 500 secrets, or prints the secrets that each finds again.
# Runs in the machine, in a session of its user. Each program is used as a person or another program would.
set -euo pipefail

folder=$(dirname "${BASH_SOURCE[0]}")
profile=$HOME/.config/chromium-proof

# visit: opens a page that keeps a cookie for a year, and prints the cookie that the browser sent.
visit() {
    python3 "$folder/cookies.py" "$folder/port" &
    local server=$!
    until [[ -s $folder/port ]]; do sleep 0.05; done
    timeout 60 chromium --headless=new --no-sandbox --disable-gpu --no-first-run --password-store=gnome-libsecret \
        --user-data-dir="$profile" --virtual-time-budget=2000 --dump-dom "http://127.0.0.1:$(<"$folder/port")/" \
        2>"$folder/chromium.log" | grep -o 'cookie:[a-z0-9]*' || true
    kill "$server"
    rm -f "$folder/port"
}

# The desktop portal chooses its backends by this.
systemctl --user set-environment XDG_CURRENT_DESKTOP=GNOME

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
    visit >/dev/null
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
    echo "chromium $(visit)"
    ;;
esac
