import Foundation
import Gcrypt
import Glibc
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
        _ = Fixture.pool
        path = NSTemporaryDirectory() + "keychaind-vault-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Puts the files of an earlier version here, which the folder `Fixtures` describes.
    convenience init(copying fixture: String) throws {
        self.init()
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/" + fixture
        for name in try FileManager.default.contentsOfDirectory(atPath: source) where name != "README.md" {
            try FileManager.default.copyItem(atPath: source + "/" + name, toPath: file(name))
        }
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { path + "/" + name }

    /// The names of all files in the folder, rising.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The names of all files in a folder in the folder, rising.
    func names(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []).sorted()
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

    /// Room for the keys of all tests that run at once: the pool never grows, and the first to ask for it sets its size.
    static let pool = try? Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)

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

    /// The secret that an item has now, wherever it is.
    func storedSecret(of id: ItemID, with key: ItemKey? = nil) async throws -> Secret {
        guard let revision = revision(of: id) else { throw VaultError(.noSuchItem, reason: "") }
        return try await storedSecret(of: revision, with: key)
    }

    /// The bytes of an item's secret.
    func content(of id: ItemID) async throws -> [UInt8] {
        try await storedSecret(of: id).content
    }
}

extension TemporaryFolder {
    /// Makes a folder in the folder.
    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    /// Makes a symbolic link in the folder.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: file(target))
    }

    /// Takes the right to write away; from root, whom permissions do not concern, by a mount.
    func makeReadOnly() throws {
        if geteuid() == 0 {
            let bind = UInt(MS_BIND)
            let readOnly = bind | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
            guard mount(path, path, nil, bind, nil) == 0, mount(nil, path, nil, readOnly, nil) == 0 else {
                throw CocoaError(.fileWriteNoPermission)
            }
        } else {
            chmod(path, 0o500)
        }
    }

    /// Gives the right to write back.
    func makeWritable() {
        if geteuid() == 0 { umount(path) } else { chmod(path, 0o700) }
    }

    /// Puts a disk of that size, in memory, where the folder is.
    func mountDisk(bytes: Int) throws {
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }

    /// Takes the disk away again.
    func unmount() {
        umount2(path, CInt(MNT_DETACH))
    }

    /// Removes a file, if it is there.
    func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: file(name))
    }

    /// The permission bits of a file.
    func permissions(of name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(name))
        return attributes?[.posixPermissions] as? Int ?? -1
    }
}
