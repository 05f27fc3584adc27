# shellcheck shell=bash disable=SC2154
# Dialogs of a real GNOME Shell, with the packages and nothing else: anna's finger, yes and recovery key, how long she
# waits for a dialog, and programs of hers that would answer for her.
#
# The shell has no screen, so an extension takes control of the session on the seat, as the shell itself does with one.

# shellcheck source=Tests/Proof/dialogs.sh
source "$scripts/dialogs.sh"

dialog_machine gnome-dialogs gnome-shell gnome-session gir1.2-atspi-2.0 at-spi2-core fonts-dejavu-core
runs_instead org.gnome.Shell@.service '/usr/bin/gnome-shell --headless --no-x11 --virtual-monitor 1280x800'
mkdir -p "$machine"/usr/share/gnome-shell/extensions
cp -r "$scripts/screen@test" "$machine/usr/share/gnome-shell/extensions"
cat >"$machine/usr/share/glib-2.0/schemas/90_proof.gschema.override" <<'END'
[org.gnome.shell]
enabled-extensions=['screen@test']
welcome-dialog-last-shown-version='99'
END
inside sh -c '/usr/lib/*/glib-2.0/glib-compile-schemas /usr/share/glib-2.0/schemas'
check "apt installs the packages" install_packages keychaind libpam-keychaind keychaind-dialog

boot
attach_reader
begin_seat wayland GNOME gnome-session
# A second shell takes the accessibility bus away, so it comes last.
part begin person speed style accessibility
as_root mkdir -p /etc/keychaind
as_root touch /etc/keychaind/accessible-dialogs
part accessibility=allowed
as_root rm /etc/keychaind/accessible-dialogs
part names display
as_root chmod 000 "$own"
part alone undelayed
power_off
