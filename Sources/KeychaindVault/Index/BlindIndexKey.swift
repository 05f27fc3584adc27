import KeychaindGcrypt
import KeychaindModel

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
