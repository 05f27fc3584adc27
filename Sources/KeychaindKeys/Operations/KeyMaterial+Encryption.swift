package import KeychaindGcrypt
import KeychaindModel

extension KeyMaterial {
    /// Encrypts a plaintext for the owner of this public key.
    ///
    /// Throws ``KeyError/Code/invalidInput`` if it is too long for the key and the algorithm; the algorithms with
    /// AES-GCM have no limit.
    package func encrypt(_ plaintext: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        try check(.encrypt, algorithm)
        switch algorithm {
        case .ecies(_, let hash, let vector):
            let publicKey = publicBytes ?? []
            let curve = try X963.curve(ofPublicKey: publicKey)
            return try KeyError.translating { () throws(GcryptError) in
                try ECIES(curve, hash, vector).encrypt(plaintext, for: publicKey)
            }
        case .rsaEncryptionOAEPAESGCM(let hash):
            return try encryptHybrid(plaintext, hash)
        default:
            return try encryptBlock(plaintext, algorithm)
        }
    }

    /// Decrypts a ciphertext with a private key.
    ///
    /// Throws ``KeyError/Code/decryptionFailed`` for every ciphertext that is not one for the key.
    package func decrypt(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> SecureBytes {
        try check(.decrypt, algorithm)
        switch algorithm {
        case .ecies(_, let hash, let vector):
            let ecies = ECIES(try X963.curve(ofPublicKey: publicBytes ?? []), hash, vector)
            let ephemeralKey = try ecies.ephemeralKey(of: ciphertext)
            let secret = try withScalar { (curve, scalar) throws(GcryptError) in
                try curve.sharedSecret(of: scalar, with: ephemeralKey)
            }
            return try ecies.decrypt(ciphertext, sharedSecret: secret)
        case .rsaEncryptionOAEPAESGCM(let hash):
            return try decryptHybrid(ciphertext, hash)
        default:
            return try decryptBlock(ciphertext, algorithm)
        }
    }
}

// MARK: RSA

extension KeyMaterial {
    private func encryptBlock(
        _ plaintext: UnsafeRawBufferPointer,
        _ algorithm: KeyAlgorithm
    ) throws(KeyError) -> [UInt8] {
        let encoding = try KeyError.translating { () throws(GcryptError) -> SecureBytes? in
            switch algorithm {
            case .rsaEncryptionOAEP(let hash):
                return try EncryptionPadding.oaep(plaintext, hash: hash, size: modulusSize)
            case .rsaEncryptionPKCS1:
                return try EncryptionPadding.pkcs1(plaintext, size: modulusSize)
            default:
                guard plaintext.count <= modulusSize else { return nil }
                return try SecureBytes(copying: plaintext)
            }
        }
        guard let encoding,
            let ciphertext = try encoding.withUnsafeBytes({ (encoding) throws(KeyError) in
                try publicPower(of: encoding)
            })
        else { throw KeyError(.invalidInput, "the plaintext is too long for the key and the algorithm") }
        return ciphertext
    }

    private func decryptBlock(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> SecureBytes {
        guard ciphertext.count == modulusSize else { throw .decryptionFailed }
        guard
            let encoding = try ciphertext.span.withUnsafeBytes({ (ciphertext) throws(KeyError) in
                try privatePower(of: ciphertext)
            }),
            let plaintext = try KeyMaterial.plaintext(of: encoding, algorithm)
        else { throw .decryptionFailed }
        return plaintext
    }

    private static func plaintext(
        of encoding: consuming SecureBytes,
        _ algorithm: KeyAlgorithm
    ) throws(KeyError) -> SecureBytes? {
        do throws(GcryptError) {
            switch algorithm {
            case .rsaEncryptionOAEP(let hash): return try EncryptionPadding.withoutOAEP(encoding, hash: hash)
            case .rsaEncryptionPKCS1: return try EncryptionPadding.withoutPKCS1(encoding)
            default: return encoding
            }
        } catch {
            throw KeyError(error)
        }
    }
}

// MARK: RSA with AES-GCM

extension KeyMaterial {
    private static let vector = [UInt8](repeating: 0, count: 16)

    /// The size of the key of AES in bytes.
    private var cipherKeySize: Int { bits >= 4096 ? 32 : 16 }

    private func encryptHybrid(_ plaintext: UnsafeRawBufferPointer, _ hash: HashFunction) throws(KeyError) -> [UInt8] {
        let key = try KeyError.translating { () throws(GcryptError) in
            try SecureBytes.random(count: cipherKeySize, in: .locked)
        }
        let wrapped = try key.withUnsafeBytes { (key) throws(KeyError) in
            try encryptBlock(key, .rsaEncryptionOAEP(hash))
        }
        return wrapped
            + (try KeyError.translating { () throws(GcryptError) in
                try AESGCM.encrypt(
                    plaintext,
                    key: key,
                    vector: KeyMaterial.vector,
                    associatedData: publicBytes ?? []
                )
            })
    }

    private func decryptHybrid(_ ciphertext: [UInt8], _ hash: HashFunction) throws(KeyError) -> SecureBytes {
        let key = try decryptBlock(Array(ciphertext.prefix(modulusSize)), .rsaEncryptionOAEP(hash))
        // Another size is no key of this form, although it may be one of AES.
        guard key.count == cipherKeySize else { throw .decryptionFailed }
        return try KeyError.translating { () throws(GcryptError) in
            try ciphertext.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
                try AESGCM.decrypt(
                    UnsafeRawBufferPointer(rebasing: ciphertext[modulusSize...]),
                    key: key,
                    vector: KeyMaterial.vector,
                    associatedData: publicBytes ?? []
                )
            }
        }
    }
}
