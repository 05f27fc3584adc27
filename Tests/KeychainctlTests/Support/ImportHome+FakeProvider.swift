import Foundation
import KeychaindTestSupport

extension ImportHome {
    /// The environment in which gnome-keyring is a script.
    ///
    /// - Parameters:
    ///   - answer: the body of GetSecrets; the real answer by default.
    ///   - label: the label of each item, in Python.
    ///   - count: the number of items.
    ///   - isLocked: whether the keychain is locked, and the person dismisses the dialog that would unlock it.
    ///   - undeletable: the path of an item that is not deleted.
    ///   - failingCreation: the number of the call that creates no item, from 1 on.
    ///   - files: the identifiers of files that can be checked; they are damaged, and the check of `gone` fails.
    func fakeProvider(
        _ answer: String = "return {item: (session, b'', item.encode(), 'text/plain') for item in items}",
        label: String = "one",
        count: Int = 1,
        isLocked: Bool = false,
        undeletable: String = "",
        failingCreation: Int = 0,
        files: [String] = []
    ) throws -> [String: String?] {
        let script = """
            #!/usr/bin/python3
            import os, dbus, dbus.service, dbus.mainloop.glib
            from gi.repository import GLib
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus = dbus.SessionBus()
            S = 'org.freedesktop.Secret.'
            LOGIN = '/org/freedesktop/secrets/collection/login'
            calls = []
            created = []
            class Service(dbus.service.Object):
                @dbus.service.method(S + 'Service', in_signature='sv', out_signature='vo')
                def OpenSession(self, algorithm, input):
                    if algorithm != 'plain':
                        raise dbus.DBusException('no', name='org.freedesktop.DBus.Error.NotSupported')
                    return dbus.String('', variant_level=1), dbus.ObjectPath('/s')
                @dbus.service.method(S + 'Service', in_signature='s', out_signature='o')
                def ReadAlias(self, name):
                    return dbus.ObjectPath(LOGIN if name in ('login', 'default') else '/')
                @dbus.service.method(S + 'Service', in_signature='aoo', out_signature='a{o(oayays)}')
                def GetSecrets(self, items, session):
                    calls.append(items)
                    \(answer)
                @dbus.service.method(S + 'Service', in_signature='ao', out_signature='aoo')
                def Unlock(self, objects):
                    return ([], '/p') if \(isLocked ? "True" : "False") else (objects, '/')
                @dbus.service.method(S + 'Service', in_signature='ao', out_signature='aoo')
                def Lock(self, objects):
                    return [], '/'
                @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
                def Get(self, interface, name):
                    return dbus.Array([LOGIN], signature='o')
            class Collection(dbus.service.Object):
                @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
                def Get(self, interface, name):
                    return self.GetAll(interface)[name]
                @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='s', out_signature='a{sv}')
                def GetAll(self, interface):
                    return {
                        'Label': 'login', 'Locked': \(isLocked ? "True" : "False"),
                        'Created': dbus.UInt64(1), 'Modified': dbus.UInt64(1),
                        'Items': dbus.Array(['/i/%d' % i for i in range(\(count))], signature='o'),
                    }
                @dbus.service.method(S + 'Collection', in_signature='a{sv}(oayays)b', out_signature='oo')
                def CreateItem(self, properties, secret, replace):
                    created.append(secret)
                    if len(created) == \(failingCreation):
                        raise dbus.DBusException('it is busy', name='org.example.Busy')
                    return '/i/new', '/'
            class Item(dbus.service.FallbackObject):
                @dbus.service.method('org.freedesktop.DBus.Properties', 's', 'a{sv}', path_keyword='path')
                def GetAll(self, interface, path):
                    return {'Label': '\(label)', 'Attributes': dbus.Dictionary({'path': path}, signature='ss')}
                @dbus.service.method(S + 'Item', in_signature='', out_signature='o', path_keyword='path')
                def Delete(self, path):
                    if path == '\(undeletable)': raise dbus.DBusException('it is busy', name='org.example.Busy')
                    return dbus.ObjectPath('/')
            class Prompt(dbus.service.Object):
                @dbus.service.method(S + 'Prompt', in_signature='s')
                def Prompt(self, window): self.Completed(True, '')
                @dbus.service.signal(S + 'Prompt', signature='bv')
                def Completed(self, dismissed, result): pass
            class Backups(dbus.service.Object):
                @dbus.service.method('org.keychaind.Backups1', in_signature='', out_signature='as')
                def Files(self): return '\(files.joined(separator: "|"))'.split('|')
                @dbus.service.method('org.keychaind.Backups1', in_signature='s', out_signature='ttyas')
                def Check(self, file):
                    if file == 'gone': raise dbus.DBusException('it is gone', name='org.example.Gone')
                    return 2, 1, 2, ['a page is damaged']
            service = Service(bus, '/org/freedesktop/secrets')
            objects = [Prompt(bus, '/p'), service, Collection(bus, LOGIN), Item(bus, '/i')]
            backups = Backups(bus, '/org/keychaind/Backups')
            bus.request_name('org.freedesktop.secrets')
            GLib.MainLoop().run()
            """
        _ = try folder.makeFolder("bin")
        let path = try folder.write(script, to: "bin/gnome-keyring-daemon")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        let rest = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return ["PATH": "\(folder.path("bin")):\(rest)"]
    }

    /// Starts that script as the provider of a bus; it ends with the bus.
    func startFakeProvider(on bus: PrivateBus) async throws -> ChildProcess {
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let provider = try ChildProcess(folder.path("bin/gnome-keyring-daemon"), [], environment: bus.environment)
        try await watch.waitForOwner(unless: provider)
        return provider
    }
}
