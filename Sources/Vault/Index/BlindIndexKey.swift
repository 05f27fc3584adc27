import Gcrypt
import KeychainModel

/// The key that makes the blind tags of attributes.
///
/// It is stored beside the collections and serves all of them, so that searches work before any unlock. It allows
/// testing guesses at attributes, and nothing else.
final class BlindIndexKey: Sendable {
    static let size = 32

    private let authenticator: HMACSHA256

    /// An 8-byte fingerprint of the key.
    let fingerprint: [UInt8]

    init(_ key: borrowing SecureBytes) throws(VaultError) {
        let authenticator = try cipher { () throws(GcryptError) in try HMACSHA256(key: key) }
        // Differs from every attribute: a packed pair contains a NUL.
        let message = Array("keychaind 1 index fingerprint".utf8)
        let code = try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
        fingerprint = Array(code.prefix(8))
        self.authenticator = authenticator
    }

    /// Computes the HMAC of a message.
    func authenticate(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
    }

    /// Computes the blind tags of attributes: the first 64 bits of HMAC-SHA256(key, name ‖ 0 ‖ value) each.
    ///
    /// Sorted, so that the order reveals nothing.
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
    /// Computes a code that requires this user's data: 32 bytes, HMAC-SHA256 under the index key.
    ///
    /// - Parameter purpose: separates codes for different purposes.
    package func code(of purpose: String, _ parts: [UInt8]...) throws(VaultError) -> [UInt8] {
        guard let indexKey = context?.indexKey else { throw VaultError.vaultClosed }
        return try indexKey.code(of: purpose, parts)
    }
}

extension BlindIndexKey {
    /// Computes a code.
    ///
    /// The hexadecimal message contains no NUL and so differs from every attribute.
    func code(of purpose: String, _ parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let digits = parts.map { part in part.map { byte in String(byte, radix: 16) }.joined(separator: ".") }
        let message = Array("keychaind 1 code for \(purpose): \(digits.joined(separator: " "))".utf8)
        return try authenticate(message)
    }
}
