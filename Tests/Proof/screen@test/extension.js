// The eyes and hands of dialogs.py in gnome-shell: keychaind.Screen on the session bus.
//
// A shell with IMPOSTOR in its environment, the address of another bus, is an attacker instead: it owns the prompter's
// name there and says yes, and writes to the file IMPOSTOR_LOG what it was asked and which windows it has shown.
import Clutter from 'gi://Clutter';
import Gcr from 'gi://Gcr?version=4';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Shell from 'gi://Shell';
import St from 'gi://St';

import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

const PROMPTER = 'org.gnome.keyring.SystemPrompter';
const LOGIND = 'org.freedesktop.login1';
const INTERFACE = `
<node>
  <interface name="keychaind.Screen">
    <method name="TakeControl"><arg name="session" type="o" direction="in"/></method>
    <method name="Shown"><arg name="windows" type="a(sdiias)" direction="out"/></method>
    <method name="Type"><arg name="text" type="s" direction="in"/></method>
    <method name="Click"><arg name="label" type="s" direction="in"/></method>
    <method name="Activate"><arg name="program" type="s" direction="in"/></method>
  </interface>
</node>`;

const now = () => GLib.get_real_time() / 1e6;
const pause = milliseconds => new Promise(done => GLib.timeout_add(0, milliseconds, () => done() ?? GLib.SOURCE_REMOVE));

function* visible(actor) {
    if (!actor.visible)
        return;
    yield actor;
    for (const child of actor.get_children())
        yield* visible(child);
}

const labelOf = button => button.label || button.get_label_actor?.()?.text || '';

export default class Screen extends Extension {
    enable() {
        const impostor = GLib.getenv('IMPOSTOR');
        if (impostor) {
            this._impersonate(impostor);
            return;
        }
        const seat = global.stage.context.get_backend().get_default_seat();
        this._keyboard = seat.create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);
        this._pointer = seat.create_virtual_device(Clutter.InputDeviceType.POINTER_DEVICE);
        this._mapped = new Map();
        global.window_manager.connectObject('map', (_manager, actor) => this._mapped.set(actor.meta_window, now()), this);
        Main.layoutManager.modalDialogGroup.connectObject('child-added', (_group, dialog) => dialog.connectObject(
            'notify::mapped', () => this._mapped.set(dialog, now()), this), this);
        this._exported = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._exported.export(Gio.DBus.session, '/keychaind/Screen');
        this._name = Gio.bus_own_name(Gio.BusType.SESSION, 'keychaind.Screen', 0, null, null, null);
    }

    // For the linter of extensions; the session ends with the test.
    disable() {}

    // As gnome-shell does itself where it has a screen and a keyboard.
    TakeControl(session) {
        Gio.DBus.system.call_sync(
            LOGIND, session, `${LOGIND}.Session`, 'TakeControl', new GLib.Variant('(b)', [false]), null, 0, -1, null);
    }

    get _dialog() {
        return Main.layoutManager.modalDialogGroup.get_children().filter(dialog => dialog.mapped).at(-1);
    }

    // Dialogs of the shell, then windows: the program, when it was shown in seconds since 1970, size, and texts.
    Shown() {
        const dialogs = this._dialog ? [this._dialog] : [];
        const windows = global.get_window_actors().map(actor => actor.meta_window);
        return [
            ...dialogs.map(dialog => [
                'gnome-shell', this._mapped.get(dialog) ?? 0, dialog.width, dialog.height,
                [...visible(dialog)].map(actor => actor instanceof St.Button ? labelOf(actor) : actor.text).filter(text => text),
            ]),
            ...windows.map(window => {
                const {width, height} = window.get_frame_rect();
                return [window.get_wm_class() ?? '', this._mapped.get(window) ?? 0, width, height,
                    [window.title ?? '', ...window.has_focus() ? ['active'] : []]];
            }),
        ];
    }

    async TypeAsync([text], invocation) {
        const keys = {'\n': Clutter.KEY_Return, '\t': Clutter.KEY_Tab, '\x1b': Clutter.KEY_Escape};
        for (const character of text) {
            for (const state of [Clutter.KeyState.PRESSED, Clutter.KeyState.RELEASED]) {
                this._keyboard.notify_keyval(GLib.get_monotonic_time(),
                    keys[character] ?? Clutter.unicode_to_keysym(character.codePointAt(0)), state);
                await pause(5);
            }
        }
        invocation.return_value(null);
    }

    async ClickAsync([label], invocation) {
        const button = [...visible(this._dialog ?? Main.uiGroup)].find(
            actor => actor instanceof St.Button && labelOf(actor) === label);
        if (!button) {
            invocation.return_dbus_error('keychaind.Screen.NoButton', label);
            return;
        }
        const [x, y] = button.get_transformed_position();
        // A pointer that has not moved yet does not enter what is below it.
        for (const step of [1, 0]) {
            this._pointer.notify_absolute_motion(
                GLib.get_monotonic_time(), x + button.width / 2 - step, y + button.height / 2);
            await pause(50);
        }
        for (const state of [Clutter.ButtonState.PRESSED, Clutter.ButtonState.RELEASED]) {
            this._pointer.notify_button(GLib.get_monotonic_time(), Clutter.BUTTON_PRIMARY, state);
            await pause(50);
        }
        invocation.return_value(null);
    }

    // As a click on a window does.
    Activate(program) {
        const actor = global.get_window_actors().find(actor => actor.meta_window.get_wm_class() === program);
        actor?.meta_window.activate(global.get_current_time());
    }

    _impersonate(address) {
        const file = Gio.File.new_for_path(GLib.getenv('IMPOSTOR_LOG'));
        const say = line => {
            const stream = file.append_to(Gio.FileCreateFlags.NONE, null);
            stream.write_all(`${line}\n`, null);
            stream.close(null);
        };
        global.window_manager.connect('map', (_manager, actor) => say(`window ${actor.meta_window.get_wm_class()}`));
        const bus = Gio.DBusConnection.new_for_address_sync(address,
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, null, null);
        this._prompter = new Gcr.SystemPrompter();
        this._prompter.connect('new-prompt', () => {
            const prompt = new Shell.KeyringPrompt();
            for (const question of ['show-confirm', 'show-password']) {
                prompt.connect(question, () => {
                    say(`asked ${question}`);
                    GLib.idle_add(0, () => prompt.complete() ?? GLib.SOURCE_REMOVE);
                });
            }
            return prompt;
        });
        this._prompter.register(bus);
        Gio.bus_own_name_on_connection(bus, PROMPTER, Gio.BusNameOwnerFlags.REPLACE, () => say('owned'), () => say('lost'));
    }
}
