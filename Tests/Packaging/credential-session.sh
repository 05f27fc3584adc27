# shellcheck shell=bash disable=SC2154
# In a session with a user manager: units get secrets by LoadCredential=; prints KEY=VALUE lines.

control=/run/installed/bin/keychainctl
printf password | /run/installed/bin/keychaind --unlock 2>"$XDG_RUNTIME_DIR/log" &
eventually busctl --user status org.freedesktop.secrets
printf 'the word\0\n' | "$control" set service=backup

units=$XDG_RUNTIME_DIR/units
# unit NAME SOCKET: a unit that copies its credential into a file of its name.
unit() {
    printf '[Service]\nType=oneshot\nLoadCredential=password:%s\nExecStart=/bin/sh -c "cat %%d/password >%%t/%s"\n' \
        "$2" "$1" >"$units/$1.service"
}
unit backup "%t/secrets"
unit stranger "%t/secrets"
unit activated "%t/by-systemd"
cat >"$units/secrets.socket" <<UNIT
[Socket]
ListenStream=%t/by-systemd
UNIT
cat >"$units/secrets.service" <<UNIT
[Service]
ExecStart=$control credential --serve activated.service/password=service=backup
UNIT
systemctl --user daemon-reload

"$control" credential --socket "$XDG_RUNTIME_DIR/secrets" --serve backup.service/password=service=backup \
    2>"$XDG_RUNTIME_DIR/served" &
serving=$!
eventually test -S "$XDG_RUNTIME_DIR/secrets"
systemctl --user start backup.service && echo "given=$(od -An -c "$XDG_RUNTIME_DIR/backup" | tr -s ' ')"
systemctl --user start stranger.service && echo "stranger=$(wc -c <"$XDG_RUNTIME_DIR/stranger")"
eventually grep refused "$XDG_RUNTIME_DIR/served"
echo "refused=$(grep refused "$XDG_RUNTIME_DIR/served")"
kill -INT "$serving"
wait "$serving" || echo "ended=$?"
[[ ! -e $XDG_RUNTIME_DIR/secrets ]] && echo "removed=yes"

systemctl --user start secrets.socket
systemctl --user start activated.service && echo "activated=$(od -An -c "$XDG_RUNTIME_DIR/activated" | tr -s ' ')"
