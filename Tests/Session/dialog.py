"""Talks to keychaind-dialog as keychaind does, and types into its windows. Prints `ok` or `not` and a title for each
check.

dialog.py PROGRAM FOLDER, on a display of its own without a window manager (DISPLAY).
"""
import os
import random
import re
import select
import socket
import subprocess
import sys
import threading
import time

import gi
gi.require_version('Gdk', '3.0')
from gi.repository import Gdk

program, folder = sys.argv[1:]
CANCELLED, NOT_CONFIRMED, TIMEOUT = 'ERR 83886179', 'ERR 83886194', 'ERR 83886142'
UNKNOWN, BAD, TOO_LONG = 'ERR 536871187', 'ERR 536871192', 'ERR 536871175'
limit = 60
seed = int(os.environ.get('SEED', '0')) or random.randrange(1 << 30)


class Dialog:
    """A running program, whose greeting has been read, or another command."""

    def __init__(self, command=(program,), **environment):
        self.socket, theirs = socket.socketpair()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, env=os.environ | environment)
        theirs.close()
        self.socket.settimeout(limit)
        self.lines = self.socket.makefile('rb')
        self.is_active = False
        self.greeting = self.line() if command == (program,) else ''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def line(self):
        """Empty at the end, also where the program has left some input."""
        try:
            line = self.lines.readline().decode().removesuffix('\n')
        except ConnectionResetError:
            return ''
        if line in ['S ACTIVE', 'S INACTIVE']:
            self.is_active = line == 'S ACTIVE'
            return self.line()
        return line

    def turns(self, is_active):
        """Waits for the line that says so; true if it is the next one."""
        return self.lines.readline() == (b'S ACTIVE\n' if is_active else b'S INACTIVE\n')

    def send(self, command, value=None):
        if value is not None:
            command += ' ' + re.sub('[%\x00-\x1f]', lambda found: f'%{ord(found[0]):02X}', value)
        self.socket.sendall(command.encode() + b'\n')

    def answer(self):
        """All lines up to an OK or ERR, without the words of an error."""
        lines = [self.line()]
        while lines[-1] and not lines[-1].startswith(('OK', 'ERR ')):
            lines.append(self.line())
        return lines[:-1] + [' '.join(lines[-1].split()[:2]) if lines[-1].startswith('ERR') else lines[-1]]

    def has_answered(self):
        """Whether an OK or ERR can be read. Lines about the window's activity come at any time."""
        readable = select.select([self.socket], [], [], 0)[0]
        return bool(readable and re.search(rb'^(OK|ERR)', self.socket.recv(4096, socket.MSG_PEEK), re.M))

    def ask(self, command, value=None):
        self.send(command, value)
        return self.answer()

    def open(self, command='GETPIN', **texts):
        """Asks a question, and waits until it is shown and has the keyboard."""
        for name, text in ({'OK': 'OK', 'CANCEL': 'Cancel'} | texts).items():
            assert self.ask('SET' + name, text) == ['OK'], name
        self.send(command)
        assert self.line() == 'S SHOWN'
        self.window = xdotool('search', '--sync', '--onlyvisible', '--pid', str(self.process.pid)).split()[-1]
        xdotool('windowfocus', '--sync', self.window)

    def size(self):
        return tuple(map(int, re.findall(r'\d+', xdotool('getwindowgeometry', self.window).splitlines()[-1])))

    def click(self, x, y):
        """A place in the window, from its end if negative."""
        width, height = self.size()
        xdotool('mousemove', '--window', self.window, str(x % width), str(y % height), 'click', '1')

    def status(self):
        return self.process.wait(limit)


def xdotool(*arguments):
    return subprocess.run(('xdotool', *arguments), check=True, capture_output=True, text=True, timeout=limit).stdout


def types(*texts):
    for text in texts:
        if text.startswith('\n'):
            xdotool('key', text[1:])
        else:
            xdotool('type', '--delay', '5', text)


def eventually(condition):
    end = time.monotonic() + limit
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def colour():
    """Of the screen, where a window has its edge."""
    pixels = Gdk.pixbuf_get_from_window(Gdk.get_default_root_window(), 4, 4, 1, 1).get_pixels()
    return pixels[:3].hex()


def check(title, found, expected=True):
    print(f'ok {title}' if found == expected else f'not {title}: {found!r}, not {expected!r}', flush=True)


# MARK: The protocol

ENTER, ESCAPE, TAB = '\nReturn', '\nEscape', '\nTab'


def passwords():
    with Dialog() as dialog:
        check('it greets', dialog.greeting.startswith('OK '))
        check('it names itself', dialog.ask('GETINFO flavor'), ['D keychaind', 'OK'])
        check('an unknown command is refused', dialog.ask('SETNOTHING x') + dialog.ask('NOTHING'), [UNKNOWN] * 2)
        check('options are accepted', dialog.ask('OPTION lc-ctype=C.UTF-8') + dialog.ask('OPTION grab'), ['OK'] * 2)
        dialog.open(PROMPT='Password:')
        types('a%b c', ENTER)
        check('a password is given', dialog.answer(), ['D a%25b c', 'OK'])
        dialog.send('SETERROR', 'crossed the answer')
        dialog.send('SETREADER', 'unrecognised')
        check('settings that cross an answer have none', dialog.ask('RESET'), ['OK'])
        window = dialog.window
        dialog.open(CHOICE='_Always')
        check('the window stays for the next question', dialog.window, window)
        types('abc', '\nalt+a', ENTER)
        check('Enter on the checkbox gives the password', dialog.answer(), ['S CHOSEN', 'D abc', 'OK'])
        dialog.ask('RESET')
        dialog.open()
        types('abc', ESCAPE)
        check('Escape cancels', dialog.answer(), [CANCELLED])
        dialog.ask('RESET')
        dialog.open()
        types(ENTER)
        check('an empty password is given', dialog.answer(), ['OK'])
        dialog.ask('RESET')
        dialog.open(OK='')
        types('abc', ENTER, ESCAPE)
        check('without a label nothing is OK', dialog.answer(), [CANCELLED])
        dialog.ask('RESET')
        dialog.open()
        long = 'x%' * 1024
        for start in range(0, len(long), 256):
            types(long[start:start + 256])
        types(ENTER)
        *data, last = dialog.answer()
        check('a password of 2048 bytes comes in lines', (last, max(map(len, data)) <= 1000, len(data) > 4,
              ''.join(line[2:] for line in data).replace('%25', '%') == long), ('OK', True, True, True))
        dialog.ask('RESET')
        dialog.open()
        types(long, 'x', ENTER, '\nBackSpace', ENTER)
        check('one of more bytes is not', dialog.answer()[-1], 'OK')
        check('it says goodbye', (dialog.ask('BYE'), dialog.status()), (['OK closing connection'], 0))


def new_passwords():
    with Dialog() as dialog:
        texts = {'PROMPT': 'New:', 'REPEAT': 'Repeat:', 'REPEATERROR': 'Not the same.'}
        dialog.open(**texts)
        types('secret', ENTER, 'secret', ENTER)
        check('a new password is entered twice', dialog.answer(), ['S PIN_REPEATED', 'D secret', 'OK'])
        dialog.ask('RESET')
        dialog.open(**texts)
        low = dialog.size()
        types('secret', ENTER, 'secre', ENTER)
        check('another one the second time is shown', eventually(lambda: dialog.size() > low))
        types('t')
        check('and no longer once it is the same', eventually(lambda: dialog.size() == low))
        types(ENTER)
        check('and then given', dialog.answer(), ['S PIN_REPEATED', 'D secret', 'OK'])


def confirmations():
    with Dialog() as dialog:
        for title, command, keys, expected in [
            ('Enter says no yes', 'CONFIRM', [ENTER], [CANCELLED]),
            ('the letter of the button does', 'CONFIRM', ['\nalt+o'], ['OK']),
            ('Escape cancels a yes', 'CONFIRM', [ESCAPE], [CANCELLED]),
            ('the middle button says no', 'CONFIRM', ['\nalt+n'], [NOT_CONFIRMED]),
            ('the only button of a message confirms', 'MESSAGE', [ENTER], ['OK']),
            ('one button has no middle', 'CONFIRM --one-button', ['\nalt+n', ENTER], ['OK']),
            ('a choice is reported', 'CONFIRM', ['\nalt+a', '\nalt+o'], ['S CHOSEN', 'OK']),
            ('a choice that is off is not', 'CONFIRM', ['\nalt+a', '\nalt+a', '\nalt+o'], ['OK']),
        ]:
            dialog.open(command, OK='_OK', NOTOK='_No', CANCEL='Cancel', CHOICE='_Always', DESC='?')
            types(*keys)
            check(title, dialog.answer(), expected)
            dialog.ask('RESET')
        dialog.open('CONFIRM', OK='', CANCEL='Cancel')
        types(ENTER)
        check('without OK, Enter presses Cancel', dialog.answer(), [CANCELLED])
        dialog.ask('RESET')
        dialog.ask('OPTION lc-messages=ar_EG.UTF-8')
        dialog.open('CONFIRM', OK='نعم', CANCEL='إلغاء')
        dialog.click(40, -30)
        check('in Arabic, OK is on the left', dialog.answer(), ['OK'])
        dialog.ask('RESET')
        dialog.ask('OPTION lc-messages=de_DE.UTF-8')
        dialog.open('CONFIRM')
        dialog.click(-40, -30)
        check('in German, on the right', dialog.answer(), ['OK'])


def while_open():
    with Dialog() as dialog:
        dialog.open(DESC='one')
        low = dialog.size()
        types('ab')
        dialog.send('SETERROR', 'That was wrong.')
        check('an error appears while it asks', eventually(lambda: dialog.size() > low))
        for state in ['waiting', 'unrecognised', 'recognised', 'locked', 'none']:
            dialog.send('SETREADER', state)
        dialog.send('SETDESC', 'one\ntwo\nthree')
        dialog.send('SETERROR', '')
        dialog.send('SETCHOICE', 'Always')
        types('c', ENTER)
        check('what was typed stays', dialog.answer(), ['D abc', 'OK'])
        dialog.ask('RESET')
        dialog.ask('SETWAIT', 'Wait \ufffc more.')
        dialog.ask('SETDELAY', '3600')
        dialog.open()
        types('ab', ENTER)
        low = dialog.size()
        dialog.send('SETDELAY', '0')
        check('the delay is shown until it ends', eventually(lambda: dialog.size() < low))
        types('c', ENTER)
        check('nothing is entered during a delay', dialog.answer(), ['D c', 'OK'])
        dialog.ask('RESET')
        begin = time.monotonic()
        dialog.ask('SETDELAY', '1')
        dialog.open()
        eventually(lambda: types('a', ENTER) or dialog.has_answered())
        check('a delay ends by itself', (dialog.answer()[-1], time.monotonic() - begin >= 1), ('OK', True))
        dialog.ask('RESET')
        dialog.ask('SETTIMEOUT', '1')
        dialog.open()
        check('a timeout is reported', dialog.answer(), [TIMEOUT])
        dialog.ask('RESET')
        dialog.open()
        dialog.send('SETTIMEOUT', '1')
        check('also one that is set while it asks', dialog.answer(), [TIMEOUT])
    for title, end, status in [
        ('the end of input', lambda dialog: dialog.socket.shutdown(socket.SHUT_WR), 0),
        ('BYE', lambda dialog: dialog.send('BYE'), 0),
        ('another command', lambda dialog: dialog.send('GETINFO flavor'), 1),
        ('a second question', lambda dialog: dialog.send('GETPIN'), 1),
        ('a setting that is none', lambda dialog: dialog.send('SETDELAY soon'), 1),
        ('a line that is too long', lambda dialog: dialog.send('SETDESC ' + 'x' * 1000), 1),
        ('a byte that is no text', lambda dialog: dialog.socket.sendall(b'SETDESC \xff\n'), 1),
    ]:
        with Dialog() as dialog:
            dialog.open()
            types('secret')
            end(dialog)
            check(f'{title} ends it without an answer', (dialog.line(), dialog.status()), ('', status))


def activity():
    with Dialog() as dialog, Dialog(CONTROL) as other:
        window = xdotool('search', '--sync', '--onlyvisible', '--pid', str(other.process.pid)).split()[-1]
        xdotool('windowfocus', '--sync', window)
        dialog.open('CONFIRM')
        check('it says that it is active', dialog.turns(True))
        xdotool('windowfocus', '--sync', window)
        check('it says that another window is', dialog.turns(False))
        xdotool('windowfocus', '--sync', dialog.window)
        check('and that it is so again', dialog.turns(True))
        types(ESCAPE)
        check('nothing more is said after the answer', dialog.answer() + dialog.ask('RESET'), [CANCELLED, 'OK'])


# MARK: Bad input

def hostile_input():
    with Dialog() as dialog:
        for line, expected in [
            (b'SETDESC ' + b'x' * 992, 'OK'), (b'SETDESC ' + b'x' * 993, TOO_LONG), (b'x' * 1000, UNKNOWN),
            (b'SETDESC ' + b'x' * 992 + b'\r', 'OK'), (b'x' * 3007, TOO_LONG), (b'SETDESC a\0b', BAD), (b'\0', BAD),
            (b'SETDESC %', BAD), (b'SETDESC %4', BAD), (b'SETDESC %4g', BAD), (b'SETDESC %00', BAD),
            (b'SETDESC %C3%A4%25', 'OK'), (b'SETDESC %C3', BAD), (b'SETDESC \xc3', BAD), (b'\xff\xfe', BAD),
            (b'SETDELAY -1', BAD), (b'SETDELAY 86401', BAD), (b'SETDELAY', BAD), (b'SETTIMEOUT 1e3', BAD),
            (b'SETTIMEOUT 99999999999999999999', BAD), (b'SETREADER broken', BAD), (b'SETREADER', BAD),
            (b'SET', UNKNOWN), (b'GETINFO', BAD), (b'setdesc x', 'OK'), (b'OPTION', 'OK'), (b'\n# x\nRESET', 'OK'),
            (b'OPTION lc-messages=../../../home', 'OK'), (b'OPTION lc-messages=', 'OK'),
        ]:
            dialog.socket.sendall(line + b'\n')
            found = dialog.answer()
            check(f'{line[:30]!r} of {len(line)} bytes', found, [expected])
        dialog.socket.sendall(b'x' * (1 << 20))
        check('a megabyte without a line end is refused once', dialog.answer(), [TOO_LONG])
        dialog.send('')
        check('and the next command is obeyed', dialog.ask('GETINFO flavor'), ['D keychaind', 'OK'])
        samples = random.Random(seed)
        words = [b'SET', b'DESC', b'SETDESC ', b'%', b'%41', b'\0', b'\r', b'\n', b' ', b'RESET', b'OPTION ',
                 b'lc-messages=', b'GETINFO ', b'\xf0\x9f', b'SETREADER locked', b'SETDELAY 4', b'\xe2\x80\xae',
                 b'x' * 999]
        garbage = b''.join(samples.choice(words) if samples.random() < 0.8 else samples.randbytes(samples.randrange(9))
                           for _ in range(4000))
        garbage = re.sub(b'(?im)^(bye|getpin|confirm|message)', b'', garbage) + b'\nGETINFO pid\n'
        # It reads no further while nobody reads its answers.
        threading.Thread(target=dialog.socket.sendall, args=[garbage], daemon=True).start()
        found = eventually(lambda: (line := dialog.line()).startswith('D ') and line[2:] == str(dialog.process.pid))
        check(f'it survives garbage (seed {seed})', found)


# MARK: Texts

def texts():
    with Dialog() as dialog:
        sizes = []
        for text in ['<span size="90000">W</span>', '(span size="90000")W(/span)']:
            dialog.open(HEADLINE=text, DESC=text, ERROR=text)
            sizes.append(dialog.size()[1])
            types(ESCAPE)
            dialog.answer()
            dialog.ask('RESET')
        check('markup is text', sizes[0], sizes[1])
        names = ['TITLE', 'HEADLINE', 'DESC', 'ERROR', 'PROMPT', 'REPEAT', 'DETAILS', 'DETAILSLABEL',
                 'OK', 'CANCEL', 'NOTOK', 'CHOICE']
        for title, text in [
            ('980 letters without a space', 'W' * 980), ('words', 'word ' * 196), ('300 lines', '\n' * 300),
            ('line separators', '\u2028\u2029' * 100), ('carriage returns and tabs', '\r\t\v\f' * 80),
            ('marks for another direction', '\u202e\u2067\u202d' * 100), ('emoji', '👩‍👧' * 89),
            ('marks on a letter', 'a' + '\u0301' * 490),
        ]:
            for command in ['GETPIN', 'CONFIRM']:
                dialog.ask('SETREADER', 'waiting')
                dialog.open(command, **{name: text for name in names})
                width, height = dialog.size()
                check(f'{title} in each text fit on the screen, {command}', width <= 1024 and height <= 700)
                if command == 'CONFIRM':
                    dialog.click(-30, -30)
                    check(f'{title} leave OK where it is', dialog.answer(), ['OK'])
                else:
                    types(ESCAPE)
                    dialog.answer()
                dialog.ask('RESET')
        dialog.open('CONFIRM', DESC='word ' * 190, DETAILS='word ' * 190, DETAILSLABEL='_Details')
        low = dialog.size()
        types('\nalt+d')
        dialog.send('SETERROR', 'x')
        eventually(lambda: dialog.size() > low)
        check('unfolded details fit on the screen', dialog.size()[1] <= 700)


# MARK: The user's files and programs

CONTROL = (sys.executable, '-c', '''
import gi
gi.require_version('Gtk', '4.0')
from gi.repository import Gio, GLib, Gtk
Gtk.init()
Gio.Settings.list_schemas()
window = Gtk.Window()
window.present()
GLib.MainLoop().run()
''')
MODULE = '''
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void load(void) { creat(getenv("LOADED") ? getenv("LOADED") : "%s", 0600); }
void g_io_module_load(void *module) { (void)module; }
void g_io_module_unload(void *module) { (void)module; }
char **g_io_module_query(void) { return 0; }
'''


def user_files():
    home = f'{folder}/home'
    loaded, modules = f'{folder}/loaded', f'{folder}/modules'
    for path in [f'{home}/.config/gtk-4.0', modules, f'{folder}/runtime']:
        os.makedirs(path)
    with open(f'{home}/.config/gtk-4.0/gtk.css', 'w') as file:
        file.write('window, .background, box { background: #ff00ff; } label { opacity: 0; }')
    subprocess.run(['cc', '-shared', '-fPIC', '-o', f'{modules}/libuser.so', '-x', 'c', '-'], check=True,
                   input=MODULE % loaded, text=True)
    environment = {'HOME': home, 'XDG_CONFIG_HOME': f'{home}/.config', 'XDG_RUNTIME_DIR': f'{folder}/runtime',
                   'GTK_MODULES': f'{modules}/libuser.so', 'GIO_EXTRA_MODULES': modules, 'GTK_PATH': modules,
                   'GTK_A11Y': 'atspi', 'GTK_IM_MODULE': 'ibus', 'GTK_THEME': 'HighContrastInverse',
                   'AT_SPI_BUS_ADDRESS': f'unix:path={folder}/accessibility',
                   'DBUS_SESSION_BUS_ADDRESS': f'unix:path={folder}/session'}
    listeners = []
    for path in ['accessibility', 'session', 'runtime/bus']:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f'{folder}/{path}')
        listener.listen()
        listeners.append(listener)

    def connected():
        return bool(select.select(listeners, [], [], 0)[0])

    with Dialog(**environment) as dialog:
        dialog.open('CONFIRM', HEADLINE='?')
        check('a style sheet of the user does nothing', colour() != 'ff00ff')
        check('a module of the user is not loaded', os.path.exists(loaded), False)
        check('no bus of the user is used', connected(), False)
        with open(f'/proc/{dialog.process.pid}/limits') as file:
            check('it leaves no core', re.search(r'Max core file size +0 +0 ', file.read()) is not None)
        try:
            with open(f'/proc/{dialog.process.pid}/smaps_rollup') as file:
                pss = int(re.search(r'^Pss: +(\d+) kB', file.read(), re.M)[1])
            check(f'it takes at most 60 MB: {pss / 1000:.0f}', pss <= 60000)
        except PermissionError:
            check('its memory is not for programs of the user', True)
    # Controls: other programs obey each of these, and so does this one where it may.
    with Dialog([program], **environment, KEYCHAIND_DIALOG_ACCESSIBLE='1'):
        check('control: accessibility, turned on, uses the bus', eventually(connected))
    while connected():
        select.select(listeners, [], [])[0][0].accept()[0].close()
    with Dialog(CONTROL, **environment):
        check('control: another program uses the bus', eventually(connected))
    for listener in listeners:
        listener.close()
    del environment['DBUS_SESSION_BUS_ADDRESS'], environment['AT_SPI_BUS_ADDRESS'], environment['GTK_THEME']
    with Dialog(CONTROL, **environment | {'GTK_A11Y': 'none'}):
        check('control: another program has the style sheet', eventually(lambda: colour() == 'ff00ff'))
        check('control: another program loads the module', os.path.exists(loaded))


def no_display():
    with Dialog(DISPLAY=':nowhere', WAYLAND_DISPLAY='') as dialog:
        check('without a display it says so', dialog.greeting.startswith('ERR 83886166'))
        check('and ends', dialog.status(), 69)


for part in [passwords, new_passwords, confirmations, while_open, activity, hostile_input, texts, user_files, no_display]:
    if len(os.environ.get('PARTS', '')) == 0 or part.__name__ in os.environ['PARTS'].split():
        try:
            part()
        except Exception as error:
            check(f'{part.__name__} ends', repr(error))
            raise
