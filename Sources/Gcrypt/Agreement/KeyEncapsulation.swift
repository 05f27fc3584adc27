/// A key that only the owner of a private key can have again, from what lies open beside what is sealed under it.
///
/// A key pair is made for the one key and thrown away: the key is HKDF-SHA256 of the secret it shares with the owner's, without
/// salt, with the info purpose ‖ public key of the pair ‖ public key of the owner. So the owner can be away, and who sealed
/// cannot open again.
package struct KeyEncapsulation: ~Copyable, Sendable {
    /// The size of ``publicKey`` in bytes.
    package static let publicKeySize = X25519.size

    /// What the owner needs beside the private key.
    package let publicKey: [UInt8]

    /// The key, 32 bytes in locked memory.
    package let key: SecureBytes

    /// Makes a key for the owner of a public key.
    ///
    /// Throws ``GcryptError/Code/invalidPublicKey`` when that is none.
    package init(to owner: [UInt8], purpose: [UInt8]) throws(GcryptError) {
        let pair = try X25519()
        let secret = try pair.sharedSecret(with: owner)
        key = try KeyEncapsulation.derive(secret, from: pair.publicKey, to: owner, purpose: purpose)
        publicKey = pair.publicKey
    }

    /// The key that was made for the owner of a key pair.
    ///
    /// Throws ``GcryptError/Code/invalidPublicKey`` when the public key is none; from any other it derives some key, and what was sealed
    /// tells whether it is the right one.
    package static func key(
        from publicKey: [UInt8],
        of owner: borrowing X25519,
        purpose: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        let secret = try owner.sharedSecret(with: publicKey)
        return try derive(secret, from: publicKey, to: owner.publicKey, purpose: purpose)
    }

    private static func derive(
        _ secret: borrowing SecureBytes,
        from publicKey: [UInt8],
        to owner: [UInt8],
        purpose: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: secret,
            info: purpose + publicKey + owner,
            count: SealingKey.keySize,
            in: .locked
        )
    }
}
