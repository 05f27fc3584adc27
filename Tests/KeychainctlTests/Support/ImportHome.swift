import Foundation
import KeychaindTestSupport
import SecretServiceClient

/// A user's folders with the files of another provider, and `keychainctl` in them.
final class ImportHome: Sendable {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["home", "data", "run", "state", "config"] { _ = try folder.makeFolder(name) }
    }

    /// The environment of a login without a session bus.
    var environment: [String: String?] {
        [
            "HOME": folder.path("home"), "XDG_DATA_HOME": folder.path("data"), "XDG_RUNTIME_DIR": folder.path("run"),
            "XDG_STATE_HOME": folder.path("state"), "XDG_CONFIG_HOME": folder.path("config"), "XDG_CACHE_HOME": nil,
            "DBUS_SESSION_BUS_ADDRESS": nil, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("no-system-bus"))",
            "DISPLAY": nil, "WAYLAND_DISPLAY": nil, "NOTIFY_SOCKET": nil,
        ]
    }

    // MARK: keychainctl

    static var executable: String {
        URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent().appendingPathComponent(
            "keychainctl"
        ).path
    }

    /// Runs `keychainctl import` with a password on standard input.
    func runImport(
        _ arguments: [String] = [],
        password: String = "password",
        environment changes: [String: String?] = [:]
    ) async throws -> CommandResult {
        try await Command.run(
            ImportHome.executable,
            ["import", "--password-fd", "0"] + arguments,
            environment: environment.merging(changes) { $1 },
            input: Array(password.utf8)
        )
    }

    /// The names of temporary folders that an import has left.
    var leftovers: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path("run")).filter {
                $0.hasPrefix("keychainctl-")
            }
        }
    }

    /// The reports, oldest first.
    var reports: [[String: Any]] {
        get throws {
            let reports = folder.path("state/keychaind/imports")
            return try FileManager.default.contentsOfDirectory(atPath: reports).sorted().map { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(reports)/\(name)"))
                return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            }
        }
    }

    // MARK: Sources

    /// Writes a keyring in gnome-keyring's format without a password, where secrets are text.
    func writePlainKeyring(_ items: [PlainItem], name: String = "login") throws {
        _ = try folder.makeFolder("data/keyrings")
        var text = "[keyring]\ndisplay-name=\(name)\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        for (number, item) in items.enumerated() {
            text += "\n[\(number + 1)]\nitem-type=0\ndisplay-name=\(item.label)\nsecret=\(item.secret)\n"
            text += "mtime=\(item.modified)\nctime=\(item.created)\n"
            for (index, attribute) in item.attributes.sorted(by: { $0.key < $1.key }).enumerated() {
                text += "\n[\(number + 1):attribute\(index)]\n"
                text += "name=\(attribute.key)\ntype=string\nvalue=\(attribute.value)\n"
            }
        }
        let path = try folder.write(text, to: "data/keyrings/\(name).keyring")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Lets gnome-keyring make its own files, and ends it.
    func withGnomeKeyring(_ body: (SecretClient) async throws -> Void) async throws {
        let bus = try await PrivateBus()
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let daemon = try ChildProcess(
            "gnome-keyring-daemon",
            ["--foreground", "--unlock", "--components=secrets", "--control-directory=\(folder.path("control"))"],
            environment: environment.merging(bus.environment) { $1 },
            input: Array("password".utf8)
        )
        try await watch.waitForOwner(unless: daemon)
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: .address(bus.address)))
        try await body(client)
        client.close()
        try await daemon.terminate()
    }

    // MARK: keychaind

    /// Starts the user's keychaind as a session would later, unlocked by the login password.
    func withKeychaind<Result>(_ body: (SecretClient) async throws -> Result) async throws -> Result {
        let bus = try await PrivateBus()
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let daemon = try ChildProcess(
            KeychainDaemon.executable,
            ["--unlock", "--prompters=none"],
            environment: environment.merging(bus.environment) { $1 },
            input: Array("password".utf8)
        )
        try await watch.waitForOwner(unless: daemon)
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: .address(bus.address)))
        let result = try await body(client)
        client.close()
        try await daemon.terminate()
        return result
    }

    /// The items of the user's keychain `login`, sorted by label.
    func login() async throws -> [StoredItem] {
        try await withKeychaind { client in
            guard let login = try await client.collection(alias: "login") else { return [] }
            return try await StoredItem.all(of: login)
        }
    }
}

/// An item of a keyring without a password.
struct PlainItem {
    var label = "item"
    var secret = "secret"
    var attributes: [String: String] = [:]
    var created = 1_600_000_000
    var modified = 1_700_000_000
}

/// All of an item, for comparison.
struct StoredItem: Hashable {
    let label: String
    let attributes: [String: String]
    let secret: [UInt8]
    let contentType: String
    let created: UInt64
    let modified: UInt64

    static func all(of collection: SecretCollection) async throws -> [StoredItem] {
        var items: [StoredItem] = []
        for item in try await collection.items() {
            let properties = try await item.properties()
            let secret = try await item.secret(prompting: .never)
            let contentType = secret.contentType
            items.append(
                StoredItem(
                    label: properties.label,
                    attributes: properties.attributes,
                    secret: secret.bytes,
                    contentType: contentType,
                    created: properties.created,
                    modified: properties.modified
                )
            )
        }
        // Of items that are alike otherwise, one may have been made in the next second.
        func place(_ item: StoredItem) -> (String, String, UInt64) {
            (item.label, item.secret.description, item.created)
        }
        return items.sorted { place($0) < place($1) }
    }
}
