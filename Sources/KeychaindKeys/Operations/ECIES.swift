package import KeychaindGcrypt

/// Apple's form of ECIES: ephemeral public key ‖ AES-GCM ciphertext ‖ tag.
///
/// The key of AES is derived from the shared secret of the ephemeral key and the recipient's by the key derivation of
/// X9.63, with the ephemeral public key as the shared info: 128 bits for P-256, 256 for larger curves.
package struct ECIES: Sendable {
    package let curve: PrimeCurve
    package let hash: HashFunction
    package let vector: KeyAlgorithm.Vector

    private static let vectorSize = 16

    package init(_ curve: PrimeCurve, _ hash: HashFunction, _ vector: KeyAlgorithm.Vector) {
        self.curve = curve
        self.hash = hash
        self.vector = vector
    }

    /// Encrypts for the owner of a public key on the curve.
    func encrypt(_ plaintext: UnsafeRawBufferPointer, for publicKey: [UInt8]) throws(GcryptError) -> [UInt8] {
        var ephemeralKey: [UInt8] = []
        var key = try PrivateKeyGate.run(bits: curve.bits) { () throws(GcryptError) in
            let scalar = try curve.makePrivateKey()
            ephemeralKey = try curve.publicKey(of: scalar)
            return try derive(from: curve.sharedSecret(of: scalar, with: publicKey), ephemeralKey)
        }
        let initialVector = takeVector(from: &key)
        return ephemeralKey
            + (try AESGCM.encrypt(plaintext, key: key, vector: initialVector, associatedData: []))
    }

    /// The ephemeral public key of a ciphertext, which is on the curve.
    ///
    /// Throws ``KeyError/Code/decryptionFailed`` if there is none.
    package func ephemeralKey(of ciphertext: [UInt8]) throws(KeyError) -> [UInt8] {
        let key = Array(ciphertext.prefix(1 + 2 * curve.size))
        let isKey = try KeyError.translating { () throws(GcryptError) in try curve.isPublicKey(key) }
        guard isKey else { throw KeyError.decryptionFailed }
        return key
    }

    /// Decrypts a ciphertext with the secret shared between its ephemeral key and the recipient's.
    package func decrypt(
        _ ciphertext: [UInt8],
        sharedSecret: borrowing SecureBytes
    ) throws(KeyError) -> SecureBytes {
        let ephemeralKey = try ephemeralKey(of: ciphertext)
        do throws(GcryptError) {
            var key = try derive(from: sharedSecret, ephemeralKey)
            let initialVector = takeVector(from: &key)
            return try ciphertext.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
                let sealed = UnsafeRawBufferPointer(rebasing: ciphertext[ephemeralKey.count...])
                return try AESGCM.decrypt(sealed, key: key, vector: initialVector, associatedData: [])
            }
        } catch {
            throw error.code == .authenticationFailed ? .decryptionFailed : KeyError(error)
        }
    }

    private var keySize: Int { curve.bits > 256 ? 32 : 16 }

    /// The key of AES, and the vector behind it if that is derived.
    private func derive(
        from secret: borrowing SecureBytes,
        _ ephemeralKey: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        try X963KeyDerivation.derive(
            from: secret,
            sharedInfo: ephemeralKey,
            hash: hash,
            count: vector == .derived ? keySize + ECIES.vectorSize : keySize,
            in: .locked
        )
    }

    private func takeVector(from key: inout SecureBytes) -> [UInt8] {
        switch vector {
        case .zero:
            return [UInt8](repeating: 0, count: ECIES.vectorSize)
        case .derived:
            defer { key.truncate(to: keySize) }
            return key.withUnsafeBytes { Array($0.suffix(ECIES.vectorSize)) }
        }
    }
}
