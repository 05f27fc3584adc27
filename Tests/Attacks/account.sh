# shellcheck shell=bash disable=SC2154,SC1091
# In a clean root, which is in layers: anna uses an installed keychaind, her account is deleted, and another person gets
# its number and name. Sourced by clean_root.sh.

source "$scripts/installed.sh"
system=/var/lib/keychaind
start_keychaind() {
    as_anna /usr/local/bin/keychaind 2>"$work/keychaind.log" &
    eventually keychaind_pid
}
end_keychaind() {
    as_anna pkill -TERM -x keychaind
    eventually sh -c '! pgrep -x keychaind'
}
unlock() {
    log_in >"$work/said"
    eventually is_locked false
}
reads() { [[ $(as_anna timeout 60 secret-tool lookup name value) == "$1" ]]; }
says_why() { eventually grep -q "$1" "$work/keychaind.log"; }
finds() { # an item also while the keychain is locked
    as_anna gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
        --method org.freedesktop.Secret.Service.SearchItems "{'name': 'value'}" | grep collection/login
}
is_set_aside() { find "$system" -name "*.set-aside.*" | grep .; }

# The home folder of a live system, whose first change makes another folder of it.
layers=/srv/layers
mkdir "$layers"
mount -t tmpfs tmpfs "$layers"
mkdir "$layers"/{below,above,work}
cp -a /home/anna "$layers/below"
mount -t overlay overlay -o "lowerdir=$layers/below,upperdir=$layers/above,workdir=$layers/work" /home
start_keychaind
unlock
printf 'of a live system' | as_anna secret-tool store --label=l name value
end_keychaind
chmod 701 /home/anna
start_keychaind
unlock
right "anna reads it after the first change of a home folder in layers" reads 'of a live system'
held "something is set aside after it" is_set_aside
end_keychaind
umount /home
rm -r "${system:?}/$anna_id"

# On a disk of its own.
cp -a /home/anna "$layers/anna"
mount -t tmpfs -o mode=755 tmpfs /home
mv "$layers/anna" /home

# Older than the keychains, as a folder on which a home folder is mounted.
install -d -m 700 -o anna -g anna /srv/below
start_keychaind
right "a login makes the keychain" unlock
printf 'of the first anna' | as_anna secret-tool store --label=l name value
right "anna reads it" reads 'of the first anna'
end_keychaind
move_home() {
    mv "$1" "$2"
    sed -i "s|:$1:|:$2:|" /etc/passwd
}
move_home /home/anna /home/elsewhere
start_keychaind
right "anna finds it before she logs in" finds
unlock
right "she reads it when her home folder has moved" reads 'of the first anna'
end_keychaind
move_home /home/elsewhere /home/anna

# Her home folder is not mounted yet.
mount --bind /srv/below /home/anna
status=0
as_anna timeout 60 /usr/local/bin/keychaind 2>"$work/keychaind.log" || status=$?
right "without the home folder keychaind does not start" test "$status" = 74
right "and says why" says_why "mount the home folder"
umount /home/anna
held "something is set aside before the home folder is mounted" is_set_aside
start_keychaind
unlock
right "with the home folder she reads it" reads 'of the first anna'
end_keychaind

# Another person.
cp "$data/login.keychain" "$work/login.keychain"
pkill -KILL -u anna
eventually sh -c '! pgrep -u anna'
rm -r /home/anna
sed -i '/^anna:/d' /etc/passwd /etc/shadow /etc/group
printf 'another password' >"$work/account"
# keychaind knows the time of its last use in seconds.
second=$(date +%s)
has_passed() { [[ $(date +%s) -gt $second ]]; }
eventually has_passed
useradd --create-home --shell /bin/bash --uid "$anna_id" anna
chown -R anna:anna "/run/user/$anna_id"
as_anna dbus-daemon --session --address="unix:path=/run/user/$anna_id/bus" --nofork 2>"$work/bus.log" &
eventually as_anna dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId
start_keychaind
held "another person finds anna's item" finds
held "or her file" ls "$data/login.keychain"
right "a login makes a new one" unlock
held "the other person reads anna's item" reads 'of the first anna'
aside=$system/$anna_id.set-aside.1
right "the journal names the folder that is set aside" says_why "$aside"
right "the keychain is in it, as it was" cmp "$work/login.keychain" "$aside/data/login.keychain"
right "and a note" grep -q 'account "anna" with the home folder /home/anna' "$aside/data/set-aside"
held "which the other person's keychaind cannot enter" setpriv --reuid anna --regid anna \
    --groups "$(stat -c %g /usr/local/bin/keychaind)" ls "$aside/data"
end_keychaind

# An administrator gives it back, as docs/domain.md says.
mv "$system/$anna_id" "$system/$anna_id.away"
mv "$aside" "$system/$anna_id"
rm "$system/$anna_id/data/account" "$system/$anna_id/data/set-aside"
printf 'the password of anna' >"$work/account"
start_keychaind
right "after an administrator has given it back, the first password opens it" unlock
right "and the item is there" reads 'of the first anna'
end_keychaind
