import Foundation
import Gcrypt
import KeychainModel
import Logging
import Synchronization
import Vault

/// An actor that tests make their vaults in, as the daemon does in that of the bus.
@globalActor
actor VaultActor {
    static let shared = VaultActor()
}

/// A clock that stands still until it is told otherwise.
final class TestClock: Sendable {
    private let time = Mutex(Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000))

    /// The time.
    var now: Timestamp { time.withLock { time in time } }

    /// Lets time pass.
    func advance(seconds: Int64) {
        time.withLock { time in time.microsecondsSinceEpoch += seconds * 1_000_000 }
    }
}

/// A folder for a test, gone with the last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "keychaind-vault-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { path + "/" + name }

    /// The names of all files in the folder, rising.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The bytes of a file.
    func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    /// Writes a file.
    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    /// Copies all that is in the folder, as a crash at this moment would leave it.
    func snapshot() throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        return copy
    }
}

/// What every test of the vault does with passwords, secrets and folders.
enum Fixture {
    /// The cheapest derivation, so that tests are about the vault.
    static let derivation = Argon2id(memoryKiB: 64, iterations: 1, lanes: 1)

    static let password = "correct horse"

    static func configuration(
        _ folder: TemporaryFolder,
        clock: TestClock = TestClock(),
        limits: VaultLimits = VaultLimits(),
        generations: Int = 0,
        maximumPages: Int? = nil
    ) -> VaultConfiguration {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        return VaultConfiguration(
            directory: folder.path,
            keyDerivation: derivation,
            limits: limits,
            generations: generations,
            maximumPages: maximumPages,
            logger: logger,
            now: { clock.now }
        )
    }

    static func bytes(_ text: String) throws -> SecureBytes {
        try SecureBytes(copying: Array(text.utf8))
    }

    static func secret(_ text: String, contentType: String = "text/plain") throws -> Secret {
        Secret(bytes: try bytes(text), contentType: contentType)
    }

    static func secret(_ bytes: [UInt8], contentType: String = "application/octet-stream") throws -> Secret {
        Secret(bytes: try SecureBytes(copying: bytes), contentType: contentType)
    }
}

extension Secret {
    /// The bytes, for comparisons.
    var content: [UInt8] { bytes.withUnsafeBytes { bytes in Array(bytes) } }
}

extension Vault {
    /// An open vault.
    static func opened(_ configuration: VaultConfiguration) async throws -> Vault {
        let vault = Vault(configuration)
        try await vault.open()
        return vault
    }

    /// The collection `login`, unlocked or made with the usual password.
    func unlockedLogin(_ password: String = Fixture.password) async throws -> Vault.Login {
        guard let login = collection(named: .login) else { throw VaultError(.noSuchCollection, reason: "no login") }
        try await login.unlock(with: Fixture.bytes(password))
        return login
    }

    typealias Login = Collection
}

extension Vault.Login {
    /// Makes an item.
    @discardableResult
    func add(
        _ label: String = "label",
        _ attributes: Attributes = ["service": "test"],
        secret: String = "secret",
        replacing: Bool = false
    ) async throws -> ItemID {
        try await createItem(
            label: label,
            attributes: attributes,
            secret: Fixture.secret(secret),
            replacing: replacing
        ).id
    }

    /// The bytes of an item's secret.
    func content(of id: ItemID) async throws -> [UInt8] {
        try await storedSecret(of: id).content
    }
}
