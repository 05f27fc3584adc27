import Foundation
import KeychaindGcrypt
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl import` before the switch, from the real gnome-keyring.
struct ImportTests {
    @Test("all items arrive once, with everything they had, and the later keychaind opens them with the password")
    func import_gnomeKeyring_copiesAll() async throws {
        let home = try ImportHome()
        var source: [StoredItem] = []
        try await home.withGnomeKeyring { client in
            let login = try #require(await client.collection(alias: "login"))
            try await login.create("plain", ["user": "anna"], "secret")
            try await login.create("", ["user": "nobody"], "without a label")
            try await login.create("binary", ["user": "b"], [0, 255, 1])
            try await login.create("large", ["user": "l", "text": String(repeating: "x", count: 60 << 10)], "large")
            for secret in ["one", "one", "two"] { try await login.create("twin", ["user": "twin"], secret) }
            source = try await StoredItem.all(of: login)
        }
        let files = try home.sourceFiles()

        let first = try await home.runImport()
        #expect(first.status == .success, "\(first.errors)")
        #expect(first.text.contains("7 items: 7 copied, 0 were there, 0 left; 7 verified"))
        #expect(try await home.login() == source)

        let second = try await home.runImport()
        #expect(second.text.contains("7 items: 0 copied, 7 were there, 0 left; 7 verified"))
        #expect(try await home.login() == source)
        #expect(try home.sourceFiles() == files)
        #expect(try home.leftovers.isEmpty)
    }

    @Test("times are kept, and the report says what was done, for the owner alone")
    func import_report_isWritten() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([
            PlainItem(attributes: ["n": "1"], created: 1_000_000_000, modified: 1_100_000_000),
            PlainItem(attributes: ["n": "2"], created: 1_000_000_000, modified: 1_100_000_000),
        ])
        let result = try await home.runImport()
        #expect(result.status == .success, "\(result.errors)")
        let items = try await home.login()
        #expect(items.map(\.created) == [1_000_000_000, 1_000_000_000])
        #expect(items.map(\.modified) == [1_100_000_000, 1_100_000_000])
        let report = try #require(try home.reports.first)
        #expect(report["version"] as? Int == 1)
        #expect(report["source"] as? String == "gnome-keyring")
        #expect(report["finished"] as? Int ?? 0 > 1_700_000_000)
        #expect(["items", "copied", "verified"].allSatisfy { report[$0] as? Int == 2 })
        #expect(["same", "left"].allSatisfy { report[$0] as? Int == 0 })
        let folder = home.folder.path("state/keychaind/imports")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("if keychaind is the provider of the session, the items go there")
    func import_sessionProvider_receives() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(label: "to the session", attributes: ["n": "1"])])
        let daemon = try await KeychainDaemon(on: PrivateBus())
        let result = try await home.runImport(environment: daemon.bus.environment)
        #expect(result.status == .success, "\(result.errors)")
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: .address(daemon.bus.address)))
        let login = try #require(await client.collection(alias: "login"))
        #expect(try await StoredItem.all(of: login).map(\.label) == ["to the session"])
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
    }

    @Test("another provider on the session bus is neither read nor changed there")
    func import_otherSessionProvider_isLeftAlone() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(attributes: ["n": "1"])])
        try await TestedProvider.gnomeKeyring.withProvider { provider in
            let result = try await home.runImport(environment: provider.bus.environment)
            #expect(result.status == .success, "\(result.errors)")
        }
        #expect(try await home.login().count == 1)
    }

    @Test("a keychain with a password of its own keeps its name; --into puts its items elsewhere")
    func import_otherKeychain_keepsItsName() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(label: "of login", attributes: ["n": "1"])])
        try home.writePlainKeyring([PlainItem(label: "of work", attributes: ["n": "2"])], name: "work")
        let result = try await home.runImport()
        #expect(result.status == .success, "\(result.errors)")
        let labels = try await home.withKeychaind { client in
            var labels: [String: [String]] = [:]
            for collection in try await client.collections() {
                // `work` has the password that was given, but is not unlocked at a login.
                _ = try await collection.unlock(with: try SecureBytes(copying: Array("password".utf8)))
                labels[try await collection.label()] = try await StoredItem.all(of: collection).map(\.label)
            }
            return labels
        }
        #expect(labels["work"] == ["of work"])

        let all = try await home.runImport(["--into", "login"])
        #expect(all.text.contains("2 items: 1 copied, 1 were there"))
        #expect(try await home.login().map(\.label) == ["of login", "of work"])
    }
}

extension SecretCollection {
    fileprivate func create(_ label: String, _ attributes: [String: String], _ secret: String) async throws {
        try await create(label, attributes, Array(secret.utf8))
    }

    fileprivate func create(_ label: String, _ attributes: [String: String], _ secret: [UInt8]) async throws {
        // After a restart gnome-keyring gives items without a schema one.
        let attributes = attributes.merging(["xdg:schema": "org.example.Test"]) { $1 }
        _ = try await createItem(label: label, attributes: attributes, secret: Secret(secret, contentType: Secret.text))
    }
}

extension ImportHome {
    /// The bytes of gnome-keyring's files.
    fileprivate func sourceFiles() throws -> [String: Data] {
        let keyrings = folder.path("data/keyrings")
        let names = try FileManager.default.contentsOfDirectory(atPath: keyrings)
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, try Data(contentsOf: URL(fileURLWithPath: "\(keyrings)/\(name)")))
            }
        )
    }
}
