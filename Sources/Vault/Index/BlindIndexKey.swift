import Gcrypt
import KeychainModel

/// The key that makes the blind tags of attributes.
///
/// It is stored beside the collections and serves all of them, so that searches work before any unlock. It allows
/// testing guesses at attributes, and nothing else.
final class BlindIndexKey: Sendable {
    /// The size of the key in bytes.
    static let size = 32

    private let authenticator: HMACSHA256

    /// An 8-byte fingerprint of the key.
    let fingerprint: [UInt8]

    /// Creates a key from its bytes.
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
