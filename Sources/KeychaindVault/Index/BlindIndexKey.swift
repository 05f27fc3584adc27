import CKeychaindLinux
import Glibc
import KeychaindGcrypt
import KeychaindModel
import Logging

/// The key that makes the blind tags of attributes.
///
/// Stored beside the collections for all of them, so that searches work before any unlock. It only allows testing
/// guesses at attributes.
final class BlindIndexKey: Sendable {
    static let size = 32

    private let authenticator: HMACSHA256

    let fingerprint: [UInt8]

    /// In bytes.
    static let fingerprintSize = 8

    private let genericTag: UInt64

    init(_ key: borrowing SecureBytes) throws(VaultError) {
        let authenticator = try cipher { () throws(GcryptError) in try HMACSHA256(key: key) }
        // Differs from every attribute: a packed pair contains a NUL.
        let message = Array("keychaind 2 index fingerprint".utf8)
        let code = try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
        fingerprint = Array(code.prefix(Self.fingerprintSize))
        genericTag = try cipher { () throws(GcryptError) in
            try Attributes.genericPair.withRawBytes { (bytes) throws(GcryptError) in try authenticator.tag(bytes) }
        }
        self.authenticator = authenticator
    }

    func authenticate(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
    }

    /// The blind tag of a packed pair.
    func tag(of pair: UnsafeRawBufferPointer) throws(VaultError) -> UInt64 {
        try cipher { () throws(GcryptError) in try authenticator.tag(pair) }
    }

    /// Computes the blind tags of an item: those of its attributes, and that of the generic schema for one without a
    /// schema.
    func tags(ofItem attributes: Attributes) throws(VaultError) -> [UInt64] {
        var tags = try tags(of: attributes)
        if !attributes.hasSchema {
            tags.append(genericTag)
            tags.sort()
        }
        return tags
    }

    /// The same.
    ///
    /// - Parameter tags: those of what is compared of the attributes, if they are known.
    func tags(ofItem attributes: Attributes, compared tags: [UInt64]?) throws(VaultError) -> [UInt64] {
        guard let tags, !attributes.hasReserved else { return try self.tags(ofItem: attributes) }
        // Only the generic schema is not compared.
        let hasOtherSchema = attributes[Attributes.schema].map { schema in schema != Attributes.genericSchema } ?? false
        return hasOtherSchema ? tags : (tags + [genericTag]).sorted()
    }

    /// Computes the blind tags of attributes: the first 64 bits of HMAC-SHA256(key, name ‖ 0 ‖ value), sorted so that
    /// order reveals nothing.
    func tags(of attributes: Attributes) throws(VaultError) -> [UInt64] {
        var tags: [UInt64] = []
        var failure: GcryptError?
        attributes.forEachPair { pair in
            do throws(GcryptError) {
                tags.append(try authenticator.tag(pair))
            } catch {
                failure = error
            }
        }
        if let failure { throw VaultError(failure) }
        tags.sort()
        return tags
    }
}

/// The tags in an item's row: 8 bytes each, big-endian; a remainder is ignored.
struct StoredTags: Sequence {
    private let bytes: UnsafeRawBufferPointer

    /// Reads tags in place; the bytes must stay valid.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int { bytes.count / 8 }

    func makeIterator() -> Iterator {
        Iterator(bytes: bytes)
    }

    struct Iterator: IteratorProtocol {
        fileprivate let bytes: UnsafeRawBufferPointer
        private var offset = 0

        fileprivate init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        mutating func next() -> UInt64? {
            guard bytes.count - offset >= 8 else { return nil }
            defer { offset += 8 }
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
}

extension Vault {
    /// Computes 32 bytes that require this user's data: HMAC-SHA256 under the index key; `purpose` separates uses.
    package func code(of purpose: String, _ parts: [UInt8]...) throws(VaultError) -> [UInt8] {
        guard let indexKey = context?.indexKey else { throw VaultError.vaultClosed }
        return try indexKey.code(of: purpose, parts)
    }
}

extension BlindIndexKey {
    /// The hexadecimal message contains no NUL and so differs from every attribute.
    func code(of purpose: String, _ parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let digits = parts.map { part in part.map { byte in String(byte, radix: 16) }.joined(separator: ".") }
        let message = Array("keychaind 1 code for \(purpose): \(digits.joined(separator: " "))".utf8)
        return try authenticate(message)
    }
}

/// The file with the key of the blind index: 32 random bytes, private to the owner.
enum IndexKeyFile {
    static let name = "index.key"

    private static let unfinishedName = name + "-new"

    /// Reads or creates the key; sets an invalid file aside.
    ///
    /// On a read-only or full disk the key lasts for this process only.
    static func load(from folder: Folder, logger: Logger) throws(VaultError) -> BlindIndexKey {
        if try folder.exists(name) {
            if let key = try read(folder.file(name)) { return try BlindIndexKey(key) }
            logger.error(
                "\(name) is damaged and is kept as \(name).unreadable; an unlock indexes a collection again"
            )
            if folder.isWritable { try folder.rename(name, to: name + ".unreadable") }
        }
        let key = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: BlindIndexKey.size, in: .locked)
        }
        if folder.isWritable {
            do throws(VaultError) {
                try write(key, to: folder)
            } catch {
                guard error.code == .storageFull else { throw error }
                try? folder.remove(unfinishedName)
                logger.error("\(name) could not be stored; the next start indexes again: \(error.reason)")
            }
        }
        return try BlindIndexKey(key)
    }

    private static func read(_ path: String) throws(VaultError) -> SecureBytes? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ELOOP { return nil }
            throw VaultError(errno: errno, doing: "open \(name)")
        }
        let opened = OpenedFile(owning: file)
        var status = stat()
        guard fstat(file, &status) == 0 else { throw VaultError(errno: errno, doing: "look at \(name)") }
        guard status.st_mode & S_IFMT == S_IFREG,
            status.st_size == off_t(BlindIndexKey.size)
        else { return nil }
        var key = try cipher { () throws(GcryptError) in try SecureBytes(count: BlindIndexKey.size, in: .locked) }
        let count = try key.withUnsafeMutableBytes { (bytes) throws(VaultError) in try opened.read(into: bytes, at: 0) }
        guard count == BlindIndexKey.size else {
            throw VaultError(.storageFailed, reason: "\(name) became shorter while it was read")
        }
        return key
    }

    private static func write(_ key: borrowing SecureBytes, to folder: Folder) throws(VaultError) {
        let unfinished = unfinishedName
        try folder.remove(unfinished)
        try folder.makeEmptyFile(unfinished)
        let file = try OpenedFile(folder.file(unfinished), flags: O_WRONLY)
        try key.withUnsafeBytes { (bytes) throws(VaultError) in try file.write(bytes, at: 0) }
        try folder.synchronize(unfinished)
        try folder.rename(unfinished, to: name)
        try folder.synchronize()
    }
}
