import CGcrypt

/// SHA-1 (RFC 3174): for the identifiers of keys, which others have made by it; good for nothing else.
package enum SHA1 {
    /// The size of a digest in bytes.
    package static let size = 20

    /// The digest of a message.
    package static func digest(of message: [UInt8]) throws(GcryptError) -> [UInt8] {
        try Gcrypt.initializeIfNeeded()
        var digest = [UInt8](repeating: 0, count: size)
        gcry_md_hash_buffer(Int32(GCRY_MD_SHA1.rawValue), &digest, message, message.count)
        return digest
    }
}
