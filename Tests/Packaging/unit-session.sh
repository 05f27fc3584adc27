# shellcheck shell=bash disable=SC2154
# In a session with a user manager: starts, restarts and breaks keychaind.service; prints KEY=VALUE lines.

show() { systemctl --user show --property="$1" --value keychaind.service; }
is_active() { [[ $(show ActiveState) == active ]]; }
has_restarted() { [[ $(show NRestarts) == 1 ]] && is_active; }

# The collection `session` needs no password.
printf 'kept in memory' | secret-tool store --collection=session --label=l name value
echo "lookup=$(secret-tool lookup name value)"
echo "state=$(show ActiveState)"
[[ $(show Type) != notify ]] || echo "notified=yes"
echo "swap=$(show MemorySwapMax)"
process=$(show MainPID)
sed -n 's/^NoNewPrivs:\t/no-new-privileges=/p; s/^Seccomp:\t/seccomp=/p' "/proc/$process/status"
cmp -s "/proc/$process/uid_map" /proc/self/uid_map && echo "same-user-namespace=yes"

locked() { busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.Secret.Collection Locked; }
systemctl --user stop keychaind.service
echo "stopped=$(show ActiveState)"
touch "$XDG_RUNTIME_DIR/ready"
eventually test -e /run/user/logged-in
eventually is_active || true
echo "started-by-login=$(show ActiveState)"
echo "locked-after-login=$(locked)"
printf 'kept on disk' | secret-tool store --label=l kind kept
before=$(show MainPID)
systemctl --user restart keychaind.service
[[ $(show MainPID) == "$before" ]] || echo "restarted=yes"
echo "after-restart=$(secret-tool lookup kind kept)"
systemctl --user restart keychaind.service
echo "after-second-restart=$(secret-tool lookup kind kept)"
/usr/bin/python3 /run/installed/test/flood.py 20 >"$XDG_RUNTIME_DIR/flood" &
flood=$!
eventually grep -q floods "$XDG_RUNTIME_DIR/flood"
systemctl --user restart keychaind.service
kill "$flood"
wait "$flood" || true
echo "after-flooded-restart=$(secret-tool lookup kind kept)"
kill -KILL "$(show MainPID)"
eventually has_restarted || true
echo "locked-after-crash=$(locked)"
has_gone() { ! kill -0 "$process" 2>/dev/null; }
# More than systemd's usual limit of starts.
for _ in {1..7}; do
    process=$(show MainPID)
    kill -KILL "$process"
    # Until then the bus passes calls on to it.
    eventually has_gone
    echo "after-crashes=$(locked || true)"
done
systemctl --user stop keychaind.service
echo "result=$(show Result)"

# A unit that cannot start, in place of the installed one.
ping() { gdbus call --session --timeout 100 --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
    --method org.freedesktop.DBus.Peer.Ping 2>&1 | sed 's/.*DBus.Error.\([A-Za-z.]*\).*/\1/'; }
unit=$XDG_RUNTIME_DIR/units/keychaind.service
ln -s /dev/null "$unit"
systemctl --user daemon-reload
echo "masked=$(ping)"
rm "$unit"
for program in /nonexistent/keychaind "$(command -v false)"; do
    sed "s|^ExecStart=.*|ExecStart=$program|" /run/systemd/user/keychaind.service >"$unit"
    systemctl --user daemon-reload
    echo "failing=$(ping) $(ping)"
    systemctl --user stop keychaind.service
done
rm "$unit"
systemctl --user daemon-reload
echo "mended=$(ping)"
systemctl --user stop keychaind.service
