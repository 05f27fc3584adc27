"""The eyes and hands of dialogs.py on an X server: keychaind.Screen on the session bus, as screen@test in gnome-shell.

DISPLAY names the server, in whose picture tesseract reads. All its words are of `screen`, and of a dialog that runs.
"""
import os
import subprocess
import time

from gi.repository import Gio, GLib

INTERFACE = '''
<node><interface name="keychaind.Screen">
  <method name="Shown"><arg type="a(sdiias)" direction="out"/></method>
  <method name="Type"><arg type="s" direction="in"/></method>
  <method name="Click"><arg type="s" direction="in"/></method>
  <method name="Activate"><arg type="s" direction="in"/></method>
</interface></node>'''


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def texts():
    """The lines on the screen."""
    # In green, all of the dialog's colours differ from those behind them.
    picture = run('magick', 'x:root', '-resize', '300%', '-channel', 'G', '-separate', 'png:-')
    found = run('tesseract', '-', '-', '--psm', '11', input=picture, env=os.environ | {'OMP_THREAD_LIMIT': '1'})
    return [line for line in found.decode().splitlines() if line.strip()]


def starts():
    """When each running dialog was started, in seconds since 1970."""
    with open('/proc/uptime') as file:
        boot = time.time() - float(file.read().split()[0])
    for process in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{process}/stat') as file:
                name, fields = file.read().split('(', 1)[1].rsplit(')', 1)
        except FileNotFoundError:
            continue
        if name == 'keychaind-dialo' and fields.split()[0] != 'Z':
            yield boot + int(fields.split()[19]) / os.sysconf('SC_CLK_TCK')


def Shown():
    lines = texts()
    programs = [('keychaind-dialog', start) for start in starts()] + [('screen', time.time())]
    return [(program, start, 1280, 800, lines) for program, start in programs if lines]


def Type(text):
    keys = {'\n': 'Return', '\x1b': 'Escape', ' ': 'space', "'": 'apostrophe'}
    run('xdotool', 'key', '--delay', '30', *(keys.get(character, character) for character in text))


def Click(_label):
    """The button after "Cancel", which has the focus. Tesseract cannot read its white letters."""
    run('xdotool', 'key', '--delay', '30', 'Tab', 'space')


def Activate(_program):
    run('xdotool', 'mousemove', '640', '400', 'click', '1')


def receive(_bus, _sender, _path, _interface, method, arguments, invocation):
    try:
        result = globals()[method](*arguments.unpack())
        invocation.return_value(GLib.Variant('(a(sdiias))', (result,)) if method == 'Shown' else None)
    except Exception as error:
        invocation.return_dbus_error('keychaind.Screen.Failed', repr(error))


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.register_object('/keychaind/Screen', Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], receive, None, None)
Gio.bus_own_name_on_connection(bus, 'keychaind.Screen', 0, None, None)
GLib.MainLoop().run()
