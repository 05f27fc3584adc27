import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindLog
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Logging
import Synchronization

/// The isolation of the tests' vaults, like the bus actor of the daemon.
@globalActor
actor VaultActor {
    static let shared = VaultActor()
}

/// A clock that only tests advance.
final class TestClock: Sendable {
    private let time = Mutex(Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000))

    /// The time.
    var now: Timestamp { time.withLock { time in time } }

    /// Advances the clock.
    func advance(seconds: Int64) {
        time.withLock { time in time.microsecondsSinceEpoch += seconds * 1_000_000 }
    }
}

/// A folder for a test, removed with the last reference, as are mounts at it.
final class TemporaryFolder: Sendable {
    let path: String

    init(in base: String = NSTemporaryDirectory()) {
        _ = Fixture.pool
        path = base + "keychaind-vault-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // A test that failed may have left them.
        while umount2(path, CInt(MNT_DETACH)) == 0 {}
        chmod(path, 0o700)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of a file.
    func file(_ name: String) -> String { path + "/" + name }

    /// The names in the folder, sorted.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The names in a subfolder, sorted.
    func names(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []).sorted()
    }

    /// Reads a file.
    func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    /// Writes a file.
    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    /// Copies the folder, or one in it, as a crash would leave it.
    func snapshot(of name: String = "") throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        let source = name.isEmpty ? path : file(name)
        for entry in try FileManager.default.subpathsOfDirectory(atPath: source) {
            var isFolder: ObjCBool = false
            // Not with FileManager's copyItem, which never ends if a file becomes shorter meanwhile.
            if FileManager.default.fileExists(atPath: source + "/" + entry, isDirectory: &isFolder), isFolder.boolValue
            {
                try copy.makeFolder(entry)
            } else {
                try Data(contentsOf: URL(fileURLWithPath: source + "/" + entry))
                    .write(to: URL(fileURLWithPath: copy.file(entry)))
            }
        }
        return copy
    }
}

/// Passwords, secrets and configurations for tests.
enum Fixture {
    /// The cheapest derivation, so that tests are fast.
    static let derivation = Argon2id(memoryKiB: 64, iterations: 1, lanes: 1)

    /// So slow that a test sees it running.
    static let slowDerivation = Argon2id(memoryKiB: 64 * 1024, iterations: 4, lanes: 1)

    static let password = "correct horse"

    /// Locked memory for all concurrent tests; the first caller sets the size.
    static let pool = try? Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)

    /// - Parameters:
    ///   - fileSize: the most bytes that a file can have on the disk; nil for any.
    ///   - pauses: whether a pause rewrites files.
    static func configuration(
        _ folder: TemporaryFolder,
        clock: TestClock = TestClock(),
        limits: VaultLimits = VaultLimits(),
        generations: Int = 0,
        fileSize: Int? = nil,
        pauses: Bool = true
    ) -> VaultConfiguration {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var configuration = VaultConfiguration(
            directory: folder.path,
            keyDerivation: derivation,
            limits: limits,
            generations: generations,
            logger: logger,
            now: { clock.now }
        )
        if let fileSize { configuration.system = .limited(to: fileSize) }
        if !pauses { configuration.idleMilliseconds = 3_600_000 }
        return configuration
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
    /// Opens a vault.
    static func opened(_ configuration: VaultConfiguration) async throws -> Vault {
        let vault = Vault(configuration)
        try await vault.open()
        return vault
    }

    /// Unlocks or creates `login`.
    func unlockedLogin(_ password: String = Fixture.password) async throws -> Vault.Login {
        guard let login = collection(named: .login) else { throw VaultError(.noSuchCollection, reason: "no login") }
        try await login.unlock(with: Fixture.bytes(password))
        return login
    }

    /// Unlocks collections with the keys of an earlier vault, and returns their names.
    func takeOver(_ keys: borrowing SecureBytes) async throws -> [CollectionName] {
        try receive(keys)
        return await takeOver()
    }

    /// Returns the collections that have taken the place of others, and whether `state` could be read.
    func readAgain() async -> (replacements: [Collection], hasState: Bool) {
        var replacements: [Collection] = []
        let hasState = await readStateAgain()
        await readCollectionsAgain { new in replacements.append(new) }
        return (replacements, hasState)
    }

    typealias Login = Collection
}

extension Vault.Login {
    /// Creates an item.
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

    /// The number of changes that an older file lacks.
    var missingCount: Int? {
        if case .older(let missing) = replacement { missing.count } else { nil }
    }

    /// Returns the current secret of an item, from memory or from the disk.
    func storedSecret(of id: ItemID, with key: ItemKey? = nil) async throws -> Secret {
        guard let revision = revision(of: id) else { throw VaultError(.noSuchItem, reason: "") }
        return try await storedSecret(of: revision, with: key)
    }

    /// Returns the bytes of an item's secret.
    func content(of id: ItemID) async throws -> [UInt8] {
        try await storedSecret(of: id).content
    }
}

extension TemporaryFolder {
    /// The names of the keychains here whose files are open in this process.
    var openKeychains: Set<String> {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let targets = descriptors.compactMap { descriptor in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        }
        let files = targets.filter { $0.hasPrefix(path) && $0.hasSuffix(".keychain") }
        return Set(files.compactMap { $0.split(separator: "/").last.map(String.init) })
    }

    /// Creates a subfolder.
    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    /// Creates a symbolic link.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: file(target))
    }

    /// Makes the folder read-only; for root, by a mount.
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

    /// Makes the folder writable.
    func makeWritable() {
        if geteuid() == 0 { unmount() } else { chmod(path, 0o700) }
    }

    /// Mounts a disk in memory at the folder.
    func mountDisk(bytes: Int) throws {
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }

    /// Unmounts the disk.
    func unmount() {
        umount2(path, CInt(MNT_DETACH))
    }

    /// Removes a file, if it exists.
    func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: file(name))
    }

    /// Returns the permission bits of a file.
    func permissions(of name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(name))
        return attributes?[.posixPermissions] as? Int ?? -1
    }
}

extension TemporaryFolder {
    func image(_ name: String = "login.keychain") throws -> LogImage { LogImage(try bytes(of: name)) }

    /// Changes a closed file.
    func tamper(_ name: String = "login.keychain", _ change: (inout LogImage) throws -> Void) throws {
        var image = try image(name)
        try change(&image)
        try write(image.bytes, to: name)
    }

    /// Writes into a file while it is in use, as a disk may lose what it had.
    func overwrite(_ range: Range<Int>, of name: String = "login.keychain", with byte: UInt8 = 0) throws {
        try LogImage.overwrite(range, of: file(name), with: byte)
    }
}
