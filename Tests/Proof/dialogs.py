"""Anna in her session of GNOME, and programs of hers that attack her. Prints `ok` or `not` and a title for each check.

dialogs.py PART..., with the extension screen@test in gnome-shell as her eyes and hands. Her fingerprint reader is
libfprint's virtual one at /run/reader; /run/touches has the times of fprintd's answers, from dbus-monitor.
"""
import json
import os
import subprocess
import sys
import time

import gi
from gi.repository import Gio, GLib

PASSWORD = "anna's login"
SHELL, OWN = 'gnome-shell', 'keychaind-dialog'
PROMPTER = 'org.gnome.keyring.SystemPrompter'
HERE = os.path.dirname(__file__)
FOLDER = os.path.expanduser('~/proof')
limit = 60
os.makedirs(FOLDER, exist_ok=True)
bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def screen(method, *arguments):
    """Calls the extension. Each argument is a string."""
    reply = bus.call_sync('keychaind.Screen', '/keychaind/Screen', 'keychaind.Screen', method,
                          GLib.Variant('(%s)' % ('s' * len(arguments)), arguments), None, 0, limit * 1000, None)
    return reply.unpack()[0] if reply.n_children() else None


def eventually(condition):
    end = time.monotonic() + limit
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def check(title, found, expected=True):
    print(f'ok {title}' if found == expected else f'not {title}: {found!r}, not {expected!r}', flush=True)


def shown(program):
    """The dialogs of a program, each as its time, width and texts."""
    return [(time, width, texts) for name, time, width, _, texts in screen('Shown') if name == program]


class Call:
    """A program that asks, in the background."""

    def __init__(self, *command, text=None):
        self.began = time.time()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        if text is not None:
            self.process.stdin.write(text)
        self.process.stdin.close()

    def dialog(self, program):
        """Its dialog, once that is shown."""
        found = eventually(lambda: [dialog for dialog in shown(program) if dialog[0] >= self.began and dialog[1]])
        return found[-1] if found else (float('inf'), 0, [])

    def end(self):
        """What it has printed, or its status without output."""
        text = self.process.stdout.read().strip()
        status = self.process.wait(limit)
        return text if text and status == 0 else status


def lookup(name):
    return Call('secret-tool', 'lookup', 'bank', name)


def touch(finger='owner', seconds=20):
    """Empty if the reader waited for it."""
    return subprocess.run(['python3', f'{HERE}/reader.py', '/run/reader', 'touch', str(seconds), finger],
                          capture_output=True, text=True).stderr.strip()


def says(program, text):
    return eventually(lambda: any(text in line for dialog in shown(program) for line in dialog[2]))


def seat():
    """The path of anna's session on the seat."""
    system = Gio.bus_get_sync(Gio.BusType.SYSTEM)
    sessions = system.call_sync('org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager',
                                'ListSessions', None, None, 0, -1, None).unpack()[0]
    return next(path for _, _, name, seat, path in sessions if (name, seat) == ('anna', 'seat0'))


def check_times(title, seconds, most, statistic='p95'):
    *_, p95, worst = sorted(seconds)
    found = {'median': sorted(seconds)[len(seconds) // 2], 'p95': p95, 'worst': worst}
    texts = ', '.join(f'{name} {value:.3f} s' for name, value in found.items())
    check(f'{title} within {most} s: {texts}', found[statistic] <= most)


# MARK: The person

def begin(program=SHELL):
    if program == SHELL:
        bus.call_sync('keychaind.Screen', '/keychaind/Screen', 'keychaind.Screen', 'TakeControl',
                      GLib.Variant('(o)', [seat()]), None, 0, -1, None)
        screen('Type', '\x1b')  # out of the overview
    for name, control in [('finger', 'biometryAny'), ('presence', 'userPresence')]:
        store = ('secret-tool', 'store', f'--label={name}', 'bank', name, f'keychain:access-control={control}')
        stored = Call(*store[:-1], 'keychain:access-control', control, text=f'secret of {name}')
        check(f'an item of {control} is stored', stored.end(), 0)
    check('one without a control is stored', Call('secret-tool', 'store', '--label=Open', 'bank', 'open', text='x').end(), 0)


def person(program=SHELL):
    call = lookup('finger')
    call.dialog(program)
    check('the reader waits for a finger', touch('stranger'), '')
    check("the dialog says that it is another one's", bool(says(program, 'not recognised')))
    touch()
    check('the finger opens the item', call.end(), 'secret of finger')
    call = lookup('presence')
    call.dialog(program)
    screen('Type', PASSWORD + '\n')
    check('the password opens an item', call.end(), 'secret of presence')
    call = lookup('presence')
    call.dialog(program)
    touch()
    check('so does the finger', call.end(), 'secret of presence')
    call = Call('keychainctl', 'rules', 'add', 'ask-once any bank=open')
    call.dialog(program)
    screen('Type', PASSWORD + '\n')
    check('a rule is added', call.process.wait(limit), 0)
    call = lookup('open')
    call.dialog(program)
    screen('Click', 'Allow')
    check('a yes opens an item', call.end(), 'x')
    call = Call('keychainctl', 'recovery-key')
    call.dialog(program)
    screen('Type', PASSWORD + '\n')
    check('a recovery key is shown', bool(says(program, 'Write it down')))
    screen('Click', 'I Have Written It Down')
    check('and made', call.process.wait(limit), 0)


def speed(program=SHELL):
    times = []
    for _ in range(20):
        call = lookup('presence')
        times.append(call.dialog(program)[0] - call.began)
        screen('Type', '\x1b')
        call.end()
    check_times(f'{program} shows a dialog', times, 0.3)
    times = []
    for _ in range(20):
        call = lookup('finger')
        call.dialog(program)
        touch()
        call.process.stdout.read(1)
        ended = time.time()
        call.end()
        with open('/run/touches') as file:
            matched = [float(line.split()[1]) for line in file if line.rstrip().endswith('VerifyStatus')]
        times.append(ended - matched[-1])
    # fprintd's answer wakes five programs in turn, so the slowest say more about the computer.
    check_times('the secret of a touch comes', times, 0.05, 'median')


# MARK: The attackers

class Attacker:
    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 15)
            self.process.wait()


def owner():
    try:
        return bus.call_sync('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'GetConnectionUnixProcessID',
                             GLib.Variant('(s)', [PROMPTER]), None, 0, -1, None).unpack()[0]
    except GLib.Error:
        return 0


def lines(name):
    try:
        with open(f'{FOLDER}/{name}') as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def second_shell():
    """A second gnome-shell, which owns the prompter's name and has a screen that nobody sees."""
    if os.path.exists(f'{FOLDER}/shell'):
        os.remove(f'{FOLDER}/shell')
    attacker = Attacker('dbus-run-session', 'gnome-shell', '--headless', '--no-x11', '--virtual-monitor', '800x600',
                        '--wayland-display', 'wayland-impostor', IMPOSTOR_LOG=f'{FOLDER}/shell',
                        IMPOSTOR=os.environ['DBUS_SESSION_BUS_ADDRESS'], WAYLAND_DISPLAY='')
    eventually(lambda: 'owned' in lines('shell'))
    return attacker


def prompter(answer, command=''):
    """A prompter that answers by itself; as the process of a command, if that is given."""
    with open(f'{FOLDER}/answers', 'w') as file:
        file.write(answer)
    with open(f'{FOLDER}/questions', 'w'):
        pass
    attacker = Attacker('python3', f'{HERE}/prompter.py', f'{FOLDER}/answers', f'{FOLDER}/questions', *command.split())
    eventually(lambda: owner() == attacker.process.pid)
    return attacker


def is_seen(title):
    """The person gets the dialog, and only she gives her finger."""
    call = lookup('finger')
    check(f'{title}: the dialog is on the screen', call.dialog(OWN)[1] > 0)
    touch()
    check(f'{title}: the finger opens the item', call.end(), 'secret of finger')


def names():
    """With keychaind-dialog, no other prompter is asked."""
    with second_shell():
        is_seen('a second gnome-shell')
        check('it is not asked', [line for line in lines('shell') if line.startswith('asked')], [])
    with prompter('yes'):
        is_seen('a prompter that says yes')
        check('it is not asked', lines('questions'), [])
        speed(OWN)


def alone(command=''):
    """Without keychaind-dialog, another prompter is asked for passwords."""
    with prompter(f'password {PASSWORD}', command):
        check('control: the password counts in another prompter', lookup('presence').end(), 'secret of presence')
    says_yes = 'a second compositor' if command else 'a prompter that says yes'
    attackers = [(says_yes, lambda: prompter('yes', command), lambda: lines('questions'))]
    if not command:
        attackers.append(('a second gnome-shell', second_shell,
                          lambda: [line for line in lines('shell') if line.startswith('asked')]))
    for title, attacker, asked in attackers:
        with attacker():
            call = lookup('finger')
            check(f'{title}, alone: the reader is not armed', touch(seconds=2), 'the reader is not armed')
            check(f'{title}, alone: the item stays closed', call.end(), 1)
            call = lookup('open')
            check(f'{title}, alone: its yes opens nothing', call.end(), 1)
            call = lookup('presence')
            check(f'{title}, alone: no password opens nothing', call.end(), 1)
            check(f'control: {title} is asked', bool(asked()))


def covered():
    """Another window is active while the dialog waits for a finger."""
    call = lookup('finger')
    call.dialog(OWN)
    other = Call('python3', '-c', GTK)
    check('another window comes up', 'active\n' in other.process.stdout, True)
    touch()
    check('a touch does not count, and the dialog says what to do', bool(says('screen', 'Click on this dialog')), True)
    other.process.kill()
    screen('Activate', OWN)
    touch()
    check('one that comes when the dialog is active does', call.end(), 'secret of finger')


def second(command):
    """A second compositor, which has the prompter's name, and is where the environment has the display."""
    def displays():
        names = os.listdir(os.environ['XDG_RUNTIME_DIR'])
        return {name for name in names if name.startswith('wayland-') and not name.endswith('.lock')}

    def set_display(name):
        environment = [f'WAYLAND_DISPLAY={name}', 'GDK_BACKEND=wayland']
        subprocess.run(['systemctl', '--user', 'set-environment', *environment], check=True)

    before = displays()
    with prompter('yes', command):
        set_display(eventually(lambda: displays() - before).pop())
        subprocess.run(['systemctl', '--user', 'restart', 'keychaind'], check=True)
        with open(f'/proc/{owner()}/comm') as file:
            check('control: the bus names a second compositor as the prompter', file.read().strip(), command.split()[0])
        is_seen('a second compositor')
        check('it is not asked', lines('questions'), [])
        control = Call('systemd-run', '--user', '--quiet', '--collect', '--pipe', 'python3', '-c', GTK)
        check('control: another program has its window there', 'shown\n' in control.process.stdout, True)
        check('and not on the screen', shown('screen'), [])
    set_display(os.environ.get('WAYLAND_DISPLAY', ''))


def replaced():
    """Another compositor than the first one of the session; keychaind knows that after a restart, too."""
    for _ in range(2):
        call = lookup('finger')
        check('in the place of the compositor, no finger counts', touch(seconds=2), 'the reader is not armed')
        check('and the item stays closed', call.end(), 1)
        subprocess.run(['systemctl', '--user', 'restart', 'keychaind'], check=True)


def undelayed():
    call = lookup('presence')
    texts = call.dialog(SHELL)[2]
    check("wrong passwords of others do not delay the person", any('Wait' in text for text in texts), False)
    screen('Type', PASSWORD + '\n')
    check('her password opens the item', call.end(), 'secret of presence')


GTK = '''
import gi
gi.require_version('Gtk', '4.0')
from gi.repository import GLib, Gtk
Gtk.init()
GLib.set_prgname('control')
window = Gtk.Window(child=Gtk.Button(label='Continue'))
window.get_child().connect('clicked', lambda _: window.close())
window.connect('close-request', lambda _: raise_())
window.connect('map', lambda _: print('shown', flush=True))
window.connect('notify::is-active', lambda *_: print('active', flush=True))
window.present()
GLib.MainLoop().run()
'''.replace('raise_()', "__import__('os')._exit(0)")
PRESS = '''
import gi
gi.require_version('Atspi', '2.0')
from gi.repository import Atspi
Atspi.init()
def press(thing, depth=0):
    action = thing.get_action_iface()
    if thing.get_name() == 'Continue' and action:
        action.do_action(0)
        print('pressed')
    for index in range(min(thing.get_child_count(), 100) if depth < 30 else 0):
        if child := thing.get_child_at_index(index):
            press(child, depth + 1)
desktop = Atspi.get_desktop(0)
for index in range(desktop.get_child_count()):
    try:
        press(desktop.get_child_at_index(index))
    except Exception as error:
        print(error)
'''


def presses():
    """Presses "Continue" in all programs over the accessibility bus."""
    return 'pressed' in subprocess.run(['python3', '-c', PRESS], capture_output=True, text=True, timeout=limit).stdout


def accessibility(is_allowed=''):
    with prompter('yes'):
        call = lookup('presence')
        call.dialog(OWN)
        if is_allowed:
            check('control: it presses those of the dialog where an administrator lets it', bool(eventually(presses)))
        else:
            check('accessibility presses no button of the dialog', presses(), False)
        screen('Activate', OWN)
        screen('Type', '\x1b')
        call.end()
    with Attacker('python3', '-c', GTK) as control:
        check("control: it presses another program's",
              eventually(lambda: presses() or control.process.poll() == 0), True)


def style():
    folder = os.path.expanduser('~/.config/gtk-4.0')
    os.makedirs(folder)
    with open(f'{folder}/gtk.css', 'w') as file:
        file.write('window { min-width: 1111px; } label { opacity: 0; }')
    with prompter('yes'):
        call = lookup('presence')
        check('a style sheet of hers does nothing', 0 < call.dialog(OWN)[1] < 1111)
        screen('Type', '\x1b')
        call.end()
    with Attacker('python3', '-c', GTK):
        check("control: it changes another program's window", bool(eventually(
            lambda: any(width >= 1111 for _, width, _ in shown('control')))))
    os.remove(f'{folder}/gtk.css')


def display():
    with second_shell(), prompter('yes'):
        environment = ['WAYLAND_DISPLAY=wayland-impostor', 'DISPLAY=:77']
        subprocess.run(['systemctl', '--user', 'set-environment', *environment], check=True)
        subprocess.run(['dbus-update-activation-environment', *environment], check=True)
        subprocess.run(['systemctl', '--user', 'restart', 'keychaind'], check=True)
        is_seen('with the display of another')
        check('it is not there', f'window {OWN}' in lines('shell'), False)
        subprocess.Popen(['systemd-run', '--user', '--quiet', '--collect', 'python3', '-c', GTK])
        check('control: another program is', eventually(lambda: 'window control' in lines('shell')))
        subprocess.run(['systemctl', '--user', 'set-environment', 'WAYLAND_DISPLAY=wayland-0'], check=True)


for part in sys.argv[1:]:
    name, _, argument = part.partition('=')
    try:
        globals()[name](*[argument] * bool(argument))
    except Exception as error:
        check(f'{name} ends', repr(error))
        raise
