import Gcrypt
import KeychainModel

/// The key of a data folder under which attributes are indexed without being told.
///
/// It lies in a file of its own beside the collections and serves all of them, so that a search works before anything was
/// unlocked. Who has the key can test guesses at attributes, and nothing more.
final class BlindIndexKey: Sendable {
    /// The size of the key in bytes.
    static let size = 32

    private let authenticator: HMACSHA256

    /// Eight bytes that tell whether tags were made with this key.
    let fingerprint: [UInt8]

    /// Takes key bytes.
    init(_ key: borrowing SecureBytes) throws(VaultError) {
        let authenticator = try cipher { () throws(GcryptError) in try HMACSHA256(key: key) }
        // No attribute has this message: a packed pair holds a NUL.
        let message = Array("keychaind 1 index fingerprint".utf8)
        let code = try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
        fingerprint = Array(code.prefix(8))
        self.authenticator = authenticator
    }

    /// The whole code of a message.
    func authenticate(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try message.withRawBytes { (bytes) throws(GcryptError) in try authenticator.authenticate(bytes) }
        }
    }

    /// The blind tags of attributes, rising, so that their order tells nothing: the first 64 bits of
    /// HMAC-SHA256(key, name ‖ 0 ‖ value) each.
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
