import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl import` of the secrets that another provider's Secret portal gave to applications.
struct PortalSecretTests {
    private static let applications = ["", "org.example.Mail"]

    @Test("keychaind's portal gives the same secrets as gnome-keyring's did")
    func import_gnomeKeyring_keepsSecrets() async throws {
        let home = try ImportHome()
        var before: [String] = []
        try await home.withGnomeKeyring { client in
            for application in Self.applications {
                before.append(try await home.portalSecret(of: application, on: client, from: KeychainDaemon.busName))
            }
        }
        #expect(before.allSatisfy { $0.count == 128 })

        let preview = try await home.runImport(["--dry-run"])
        #expect(preview.text.contains("Portal secret of org.example.Mail"), "\(preview.errors)")
        let first = try await home.runImport()
        #expect(first.status == .success, "\(first.errors)")
        #expect(first.text.contains("2 items: 2 copied, 0 were there, 0 left; 2 verified"))
        let second = try await home.runImport()
        #expect(second.text.contains("2 items: 0 copied, 2 were there, 0 left; 2 verified"))

        let backend = "org.freedesktop.impl.portal.desktop.keychaind"
        try await home.withKeychaind { client in
            for (application, secret) in zip(Self.applications, before) {
                let imported = try await home.portalSecret(of: application, on: client, from: backend)
                #expect(imported == secret)
            }
        }
    }

    /// The attributes and labels with which the portals of today store the secret of an application.
    private static let forms: [(label: String, attributes: [String: String])] = [
        // gnome-keyring 48
        ("Application key for ID", ["app_id": "ID", "xdg:schema": "org.freedesktop.portal.Secret"]),
        // oo7-portal 0.6, on gnome-keyring
        ("Secret Portal token for ID", ["app_id": "ID"]),
        ("Secret Portal token for ID", ["app_id": "ID", "xdg:schema": "org.freedesktop.Secret.Generic"]),
        ("Renamed", ["app_id": "ID", "xdg:schema": "org.freedesktop.portal.Secret", "more": "x"]),
    ]

    @Test("what today's portals store is recognised, whatever its label")
    func import_formsOfToday_keepSecrets() async throws {
        let home = try ImportHome()
        let applications = Self.forms.indices.map { "org.example.Mail\($0)" }
        let secrets = Self.forms.indices.map { String(repeating: "secret \($0)", count: 8) }
        try await home.withGnomeKeyring { client in
            let login = try #require(await client.collection(alias: "login"))
            for (form, (application, secret)) in zip(Self.forms, zip(applications, secrets)) {
                _ = try await login.createItem(
                    label: form.label.replacing("ID", with: application),
                    attributes: form.attributes.mapValues { $0.replacing("ID", with: application) },
                    secret: Secret(secret)
                )
            }
        }
        let result = try await home.runImport()
        #expect(result.text.contains("4 items: 4 copied, 0 were there, 0 left; 4 verified"), "\(result.errors)")
        let backend = "org.freedesktop.impl.portal.desktop.keychaind"
        let imported = try await home.withKeychaind { client in
            var imported: [String] = []
            for application in applications {
                imported.append(try await home.portalSecret(of: application, on: client, from: backend))
            }
            return imported
        }
        #expect(imported == secrets.map { secret in secret.utf8.map { String($0, radix: 16) }.joined() })
    }

    @Test("an item of a program that also names its application stays an item; a secret of another size stays behind")
    func import_noPortalSecret_isNone() async throws {
        let home = try ImportHome()
        let token = String(repeating: "secret 8", count: 8)
        try await home.withGnomeKeyring { client in
            let login = try #require(await client.collection(alias: "login"))
            let attributes = ["app_id": "org.example.Mail", "user": "anna"]
            _ = try await login.createItem(label: "Token", attributes: attributes, secret: Secret(token))
            _ = try await login.createItem(
                label: "Application key for org.example.Mail",
                attributes: ["app_id": "org.example.Mail", "xdg:schema": "org.freedesktop.portal.Secret"],
                secret: Secret(String(repeating: "x", count: 63))
            )
        }
        let result = try await home.runImport()
        #expect(result.status == .exited(2))
        #expect(result.text.contains("Left: “portal secret of org.example.Mail” in "))
        #expect(result.text.contains(": it has 63 bytes, and not 64"))
        #expect(try await home.login().map(\.label) == ["Token"])
    }

    @Test("--into moves items, not portal secrets, for which the keychain login is made")
    func import_intoKeychain_keepsPortalSecrets() async throws {
        let home = try ImportHome()
        let application = "org.example.Mail"
        var before = ""
        try await home.withGnomeKeyring { client in
            before = try await home.portalSecret(of: application, on: client, from: KeychainDaemon.busName)
            let login = try #require(await client.collection(alias: "login"))
            _ = try await login.createItem(label: "other", attributes: ["n": "1"], secret: Secret("other"))
        }
        let result = try await home.runImport(["--into", "work"])
        #expect(result.text.contains("2 items: 2 copied, 0 were there, 0 left; 2 verified"), "\(result.errors)")
        let backend = "org.freedesktop.impl.portal.desktop.keychaind"
        try await home.withKeychaind { client in
            let imported = try await home.portalSecret(of: application, on: client, from: backend)
            #expect(imported == before)
            let login = try #require(await client.collection(alias: "login"))
            // Only the portal secret, which has no such attribute.
            let found = try await login.search(["n": "1"])
            #expect(found.isEmpty)
        }
        #expect(try await home.runImport(["--into", "work"]).text.contains("0 copied, 2 were there"))
    }

    @Test("a program that has a secret of keychaind keeps it, and is named")
    func import_usedApplication_isLeft() async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { client in
            _ = try await home.portalSecret(of: "org.example.Mail", on: client, from: KeychainDaemon.busName)
            let login = try #require(await client.collection(alias: "login"))
            // An ordinary item: its secret is too short, and it has a label.
            _ = try await login.createItem(label: "other", attributes: ["app_id": "x"], secret: Secret("other"))
        }
        let backend = "org.freedesktop.impl.portal.desktop.keychaind"
        let derived = try await home.withKeychaind { client in
            try await home.portalSecret(of: "org.example.Mail", on: client, from: backend)
        }
        let result = try await home.runImport()
        #expect(result.status == .exited(2))
        #expect(result.text.contains("Left: “portal secret of org.example.Mail” in "))
        #expect(result.text.contains(": the application has used a secret of keychaind"))
        #expect(result.text.contains("keychainctl portal-secret replace"))
        #expect(result.text.contains("2 items: 1 copied, 0 were there, 1 left; 1 verified"))
        let after = try await home.withKeychaind { client in
            try await home.portalSecret(of: "org.example.Mail", on: client, from: backend)
        }
        #expect(after == derived)
    }

    @Test("a program that has a secret of keychaind gets its old one once a person has read the cost, and back")
    func replace_usedApplication_takesAYes() async throws {
        let home = try ImportHome()
        let application = "org.example.Mail"
        var old = ""
        try await home.withGnomeKeyring { client in
            old = try await home.portalSecret(of: application, on: client, from: KeychainDaemon.busName)
        }
        let (file, former) = (home.folder.path("data/keyrings/login.keyring"), old)
        let password = try home.folder.write("password", to: "password")
        try await Controlled.with { controlled in
            let backend = "org.freedesktop.impl.portal.desktop.keychaind"
            let retrieve = { try await home.portalSecret(of: application, on: controlled.client, from: backend) }
            let command = ["portal-secret", "replace", application, file, "--password-fd", "0"]
            let early = try await controlled.run(command + ["--yes"], input: Array("password".utf8))
            #expect(early.status == .exited(3), "\(early.errors)")
            let derived = try await retrieve()
            let other = ["portal-secret", "replace", "org.example.Other", file, "--password-fd", "0"]
            let missing = try await controlled.run(other, input: Array("password".utf8))
            #expect(missing.status == .exited(3) && missing.errors.contains("no portal secret of org.example.Other"))

            let terminal = try TestTerminal()
            let line = "\(ImportHome.executable) \(command.joined(separator: " ")) <\(password)"
            for answer in ["no", "yes"] {
                let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
                let replacement = try terminal.run(line, environment: controlled.provider.bus.environment)
                try await terminal.waitFor("will not be able to read what it has encrypted with its present secret")
                terminal.type("\(answer)\r")
                #expect(try await replacement.waitForExit() == (answer == "yes" ? .success : .exited(5)))
                #expect(prompter.questions.count == (answer == "yes" ? 1 : 0))
                try await prompter.end()
                #expect(try await retrieve() == (answer == "yes" ? former : derived))
            }
            let again = try await controlled.run(command + ["--yes"], input: Array("password".utf8))
            #expect(again.succeeded && again.text == "org.example.Mail has this secret.\n", "\(again.errors)")
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let undo = try await controlled.run(["portal-secret", "undo", application, "--yes"], input: [])
            try await prompter.end()
            #expect(undo.succeeded, "\(undo.errors)")
            #expect(try await retrieve() == derived)
        }
    }
}

extension ImportHome {
    /// The secret that a backend of the Secret portal gives to an application, in hexadecimal.
    fileprivate func portalSecret(
        of application: String,
        on client: SecretClient,
        from service: String
    ) async throws -> String {
        guard case .address(let address) = client.configuration.bus else { return "" }
        let environment = environment.merging(["DBUS_SESSION_BUS_ADDRESS": address]) { $1 }
        let result = try await Command.python(portalScript, [service, application], environment: environment)
        #expect(result.succeeded, "\(result.errors)")
        return result.text.split(separator: "\n").first.map(String.init) ?? ""
    }

    private var portalScript: String {
        """
        import os, sys
        import dbus, dbus.mainloop.glib
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        service, application = sys.argv[1:]
        bus = dbus.SessionBus()
        loop = GLib.MainLoop()
        watch = bus.watch_name_owner(service, lambda owner: owner and loop.quit())
        loop.run()
        watch.cancel()
        # keychaind answers the desktop portal only.
        bus.request_name('org.freedesktop.portal.Desktop')
        portal = bus.get_object(service, '/org/freedesktop/portal/desktop', introspect=False)
        reader, writer = os.pipe()
        response, _ = portal.RetrieveSecret(
            dbus.ObjectPath('/org/freedesktop/portal/desktop/request/1'), application, dbus.types.UnixFd(writer),
            dbus.Dictionary({}, signature='sv'), dbus_interface='org.freedesktop.impl.portal.Secret')
        os.close(writer)
        assert response == 0, response
        print(os.read(reader, 4096).hex())
        """
    }
}
