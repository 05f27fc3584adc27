/// A key encapsulated for the owner of an X25519 key pair.
///
/// The key is HKDF-SHA256 of the secret shared between the owner and an ephemeral key pair, without salt, with the info
/// purpose ‖ ephemeral public key ‖ public key of the owner. Sealing needs only the public key of the owner, and the
/// sealer cannot open the result.
package struct KeyEncapsulation: ~Copyable, Sendable {
    /// In bytes.
    package static let publicKeySize = X25519.size

    /// The ephemeral public key, stored beside the sealed data.
    package let publicKey: [UInt8]

    /// The key, 32 bytes in locked memory.
    package let key: SecureBytes

    /// Encapsulates a new key for the owner of a public key; throws ``GcryptError/Code/invalidPublicKey``.
    package init(to owner: [UInt8], purpose: [UInt8]) throws(GcryptError) {
        let pair = try X25519()
        let secret = try pair.sharedSecret(with: owner)
        key = try KeyEncapsulation.derive(secret, from: pair.publicKey, to: owner, purpose: purpose)
        publicKey = pair.publicKey
    }

    /// Decapsulates the key for the owner of a key pair; throws ``GcryptError/Code/invalidPublicKey``.
    ///
    /// A wrong public key gives a wrong key, which fails to open what was sealed.
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
