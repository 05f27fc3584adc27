# shellcheck shell=bash disable=SC2154,SC1091
# Sandboxes from before the update, access groups, and what stays after a restart.

own_home
own_bus
source "$scripts/support.sh"
mkdir -p "$XDG_DATA_HOME/flatpak/app/org.example.Mail" "$work/share/keychaind/groups.d" \
    "$work/own/keychaind/groups.d"
cat >"$work/share/keychaind/groups.d/suite.groups" <<'END'
# The programs of one author.
org.example.suite: flatpak:org.example.Suite1 flatpak:org.example.Suite2
broken: program:/usr/bin/git flatpak:org.example.Outsider
END
echo "org.example.suite: flatpak:org.example.Outsider" >"$work/own/keychaind/groups.d/own.groups"
chmod 666 "$work/own/keychaind/groups.d/own.groups"
export XDG_DATA_DIRS=$work/share:$work/own
start_daemon
prompter yes
attack sandboxes_before "$work/answers"
stop_daemon
start_daemon
attack sandboxes_after
