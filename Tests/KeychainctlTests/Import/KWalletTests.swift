import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl import` from the real kwalletd5, without a screen.
struct KWalletTests {
    @Test("the wallet that the login opens becomes the keychain login, and its portal secrets keychaind's; once")
    func import_kwallet_copiesAll() async throws {
        let home = try ImportHome()
        // In the forms before and after a restart of ksecretd.
        try await home.makeWallet(portalApplications: ["org.example.Mail", "org.example.Notes"])
        let wrong = try await home.runImport(["--from", "kwallet"], password: "wrong")
        #expect(wrong.status == .exited(6))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        let preview = try await home.runImport(["--from", "kwallet", "--dry-run"])
        for application in ["org.example.Mail", "org.example.Notes"] {
            #expect(preview.text.contains("Portal secret of \(application)"), "\(preview.errors)")
        }
        let first = try await home.runImport(["--from", "kwallet"])
        #expect(first.status == .success && first.text.contains("6 items: 6 copied"), "\(first.errors)\(first.text)")
        #expect(first.errors.contains("kwallet does not give 1 item of “kdewallet” whole: it was read from the file."))
        let labels = try await home.withKeychaind { client in
            let label = try await client.collection(alias: "login")?.label()
            #expect(label == "kdewallet")
            for found in try await client.search(["server": "a/b", "user": "c"]).all {
                let secret = try await found.secret(prompting: .never)
                #expect(secret.bytes == Array("found".utf8))
            }
            var labels: [String] = []
            for number in 0..<3 {
                for item in try await client.search(["n": "\(number)"]).all { labels.append(try await item.label()) }
            }
            return labels
        }
        #expect(labels == ["item 0", "item 1", "item 2"])
        #expect(try await home.runImport(["--from", "kwallet"]).text.contains("0 copied, 6 were there"))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("the login's wallet becomes login also beside another default one, and each that does not open is named")
    func import_severalWallets_areImportedByThemselves() async throws {
        let home = try ImportHome()
        try await home.makeWallet(portalApplications: ["org.example.Mail"])
        let folder = home.folder.path("data/kwalletd")
        for suffix in [".kwl", ".salt", "_attributes.json"] {
            try FileManager.default.copyItem(atPath: "\(folder)/kdewallet\(suffix)", toPath: "\(folder)/Work\(suffix)")
        }
        // The beginning of a wallet that GPG encrypts, and one whose salt, and so its password, is another.
        try Data(Array("KWALLET\n\r\0\r\n".utf8) + [0, 1, 2, 0]).write(to: URL(fileURLWithPath: folder + "/GPG.kwl"))
        try FileManager.default.copyItem(atPath: folder + "/Work.kwl", toPath: folder + "/Other.kwl")
        try Data(count: 56).write(to: URL(fileURLWithPath: folder + "/Other.salt"))
        try home.folder.write("[Wallet]\nDefault Wallet=Work\nFirst Use=false\n", to: "config/kwalletrc")
        let result = try await home.runImport(["--from", "kwallet"])
        #expect(result.status == .exited(2), "\(result.errors)")
        // The portal's secret is in both.
        #expect(result.text.contains("10 items: 9 copied, 1 were there"), "\(result.text)")
        #expect(result.text.contains("Keychain “GPG.kwl” stays behind: \(folder)/GPG.kwl: the wallet is encrypted"))
        #expect(result.text.contains("Keychain “Other.kwl” stays behind: \(folder)/Other.kwl could not be opened"))
        try await home.withKeychaind { client in
            let labels = [
                try await client.collection(alias: "login")?.label(), try await client.defaultCollection()?.label(),
            ]
            #expect(labels == ["kdewallet", "Work"])
        }
        // Without KWallet's programs.
        let programs = try home.folder.makeFolder("programs")
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/dbus-daemon",
            withDestinationPath: "/usr/bin/dbus-daemon"
        )
        let again = try await home.runImport(["--from", "kwallet"], environment: ["PATH": programs])
        #expect(again.text.contains("10 items: 0 copied, 10 were there"), "\(again.text)")
    }
}

extension ImportHome {
    /// Lets kwalletd5 make a wallet with three items, opened as pam_kwallet does, whose password is `password`.
    ///
    /// - Parameter portalApplications: applications for which it also has the item of a portal secret; the second has
    ///   the attributes that ksecretd 6.30 gives it at its next start.
    fileprivate func makeWallet(portalApplications: [String] = []) async throws {
        _ = try folder.makeFolder("data/kwalletd")
        let bus = try await PrivateBus()
        let environment = environment.merging(bus.environment) { $1 }.merging(["QT_QPA_PLATFORM": "offscreen"]) { $1 }
        let arguments = [folder.path("data/kwalletd")] + portalApplications
        let result = try await Command.python(walletScript, arguments, environment: environment)
        #expect(result.succeeded, "\(result.errors)")
    }

    private var walletScript: String {
        """
        import atexit, hashlib, os, socket, subprocess, sys
        import dbus, dbus.mainloop.glib
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        folder = sys.argv[1]
        wallet = folder + '/kdewallet.kwl'
        salt = os.urandom(56)
        open(folder + '/kdewallet.salt', 'wb').write(salt)
        bus = dbus.SessionBus()
        def end(group):
            try: os.killpg(group, 9)
            except ProcessLookupError: pass
        def run():
            read, write = os.pipe()
            os.write(write, hashlib.pbkdf2_hmac('sha512', b'password', salt, 50000, 56))
            os.close(write)
            listener = socket.socket(socket.AF_UNIX)
            path = os.path.join(os.environ['XDG_RUNTIME_DIR'], 'kw')
            if os.path.exists(path): os.unlink(path)
            listener.bind(path)
            listener.listen(1)
            descriptors = (read, listener.fileno())
            child = subprocess.Popen(
                ['kwalletd5', '--pam-login', str(read), str(listener.fileno())],
                pass_fds=descriptors, start_new_session=True, env=dict(os.environ, PAM_KWALLET5_LOGIN=path))
            atexit.register(end, child.pid)
            loop = GLib.MainLoop()
            watch = bus.watch_name_owner('org.freedesktop.secrets', lambda owner: owner and loop.quit())
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.close()
            loop.run()
            watch.cancel()
            return child
        # The first start makes the wallet, the second shows it as a collection.
        child = run()
        kwallet = lambda: dbus.Interface(bus.get_object('org.kde.kwalletd5', '/modules/kwalletd5'), 'org.kde.KWallet')
        while not os.path.exists(wallet) or not os.path.getsize(wallet): kwallet().wallets()
        child.terminate(); child.wait()
        child = run()
        service = dbus.Interface(
            bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets'), 'org.freedesktop.Secret.Service')
        _, session = service.OpenSession('plain', dbus.String('', variant_level=1))
        path = service.ReadAlias('default')
        _, prompt = service.Unlock([path])
        loop = GLib.MainLoop()
        bus.add_signal_receiver(lambda *_: loop.quit(), 'Completed', 'org.freedesktop.Secret.Prompt', path=prompt)
        dbus.Interface(bus.get_object('org.freedesktop.secrets', prompt), 'org.freedesktop.Secret.Prompt').Prompt('')
        loop.run()
        collection = dbus.Interface(
            bus.get_object('org.freedesktop.secrets', path), 'org.freedesktop.Secret.Collection')
        for i in range(3):
            collection.CreateItem({
                'org.freedesktop.Secret.Item.Label': 'item %d' % i,
                'org.freedesktop.Secret.Item.Attributes': dbus.Dictionary({'n': str(i)}, signature='ss'),
            }, (session, b'', b'secret', 'text/plain'), False)
        for application in sys.argv[2:]:
            attributes = {'server': 'xdg-desktop-portal', 'user': application, 'type': 'binary'}
            collection.CreateItem({
                'org.freedesktop.Secret.Item.Label': 'xdg-desktop-portal/' + application,
                'org.freedesktop.Secret.Item.Attributes': dbus.Dictionary(
                    attributes if application == sys.argv[-1] else {}, signature='ss'),
            }, (session, b'', bytes(range(64)), 'application/octet-stream'), False)
        # The Secret Service of KWallet looks for the folder `a`.
        handle = kwallet().open('kdewallet', dbus.Int64(0), 'test', signature='sxs')
        kwallet().createFolder(handle, 'a/b', 'test')
        kwallet().writePassword(handle, 'a/b', 'c', 'found', 'test')
        # Closing writes the wallet.
        kwallet().closeAllWallets()
        child.terminate(); child.wait()
        """
    }
}
