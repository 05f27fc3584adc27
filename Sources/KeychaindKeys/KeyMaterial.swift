package import KeychaindGcrypt
package import KeychaindModel

/// A checked key in Apple's external representation.
///
/// RSA keys are PKCS #1. Elliptic-curve keys are ANSI X9.63: 4, x, y, and the scalar of a private key. Symmetric keys
/// are any bytes. Those of private and symmetric keys are wiped with the last copy of the value.
package struct KeyMaterial: Sendable {
    package let type: KeyType
    package let keyClass: KeyClass

    /// The size in bits; for elliptic curves, that of the field.
    package let bits: Int

    /// The external representation of the public key; nil for a symmetric key.
    package let publicBytes: [UInt8]?

    /// The bytes of a private or symmetric key.
    private let secret: SharedSecret?

    /// Reads a key; the caller wipes the bytes if they are secret.
    ///
    /// Throws ``KeyError/Code/malformedKey`` if the bytes are not such a key, ``KeyError/Code/unsupportedKey`` for
    /// another type.
    package init(_ bytes: [UInt8], type: KeyType, keyClass: KeyClass) throws(KeyError) {
        guard keyClass != .public else {
            try self.init(publicKey: bytes, type: type)
            return
        }
        let copy = try KeyError.translating { () throws(GcryptError) in try SecureBytes(copying: bytes) }
        try self.init(SharedSecret(copy), type: type, keyClass: keyClass)
    }

    /// Reads a key, and keeps a private or symmetric one in the same kind of memory.
    package init(_ bytes: borrowing SecureBytes, type: KeyType, keyClass: KeyClass) throws(KeyError) {
        guard keyClass != .public else {
            try self.init(publicKey: bytes.withUnsafeBytes { Array($0) }, type: type)
            return
        }
        let copy: SecureBytes
        do throws(GcryptError) {
            copy = try bytes.copy(in: bytes.memory)
        } catch {
            throw KeyError(error)
        }
        try self.init(SharedSecret(copy), type: type, keyClass: keyClass)
    }

    private init(publicKey: [UInt8], type: KeyType) throws(KeyError) {
        switch type {
        case .rsa: bits = try PKCS1.bits(ofPublicKey: publicKey)
        case .ec: bits = try X963.curve(ofPublicKey: publicKey).bits
        default: throw KeyMaterial.unsupported(type, .public)
        }
        self.type = type
        keyClass = .public
        publicBytes = publicKey
        secret = nil
    }

    private init(_ secret: SharedSecret, type: KeyType, keyClass: KeyClass) throws(KeyError) {
        switch (type, keyClass) {
        case (.rsa, .private):
            (publicBytes, bits) = try secret.bytes.withUnsafeBytes { (der) throws(KeyError) in
                try PKCS1.publicKey(of: der)
            }
        case (.ec, .private):
            (publicBytes, bits) = try secret.bytes.withUnsafeBytes { (bytes) throws(KeyError) in
                try X963.publicKey(of: bytes)
            }
        case (.aes, .symmetric), (.des, .symmetric), (.tripleDES, .symmetric), (.rc2, .symmetric), (.rc4, .symmetric),
            (.cast, .symmetric):
            guard !secret.bytes.isEmpty else { throw KeyError(.malformedKey, "the key is empty") }
            bits = secret.bytes.count * 8
            publicBytes = nil
        default:
            throw KeyMaterial.unsupported(type, keyClass)
        }
        self.type = type
        self.keyClass = keyClass
        self.secret = secret
    }

    /// Generates a private key; RSA takes up to seconds.
    ///
    /// Throws ``KeyError/Code/unsupportedKey`` unless it is RSA of 2048, 3072 or 4096 bits, or an elliptic curve of
    /// 256, 384 or 521.
    package init(making type: KeyType, bits: Int) throws(KeyError) {
        let made = try KeyError.translating { () throws(GcryptError) -> SharedSecret? in
            try PrivateKeyGate.run(bits: bits) { () throws(GcryptError) in
                switch type {
                case .rsa where RSAPrivateKey.newSizes.contains(bits):
                    return SharedSecret(try PKCS1.encode(RSAPrivateKey(bits: bits)))
                case .ec:
                    guard let curve = PrimeCurve.allCases.first(where: { $0.bits == bits }) else { return nil }
                    return try X963.makePrivateKey(on: curve)
                default:
                    return nil
                }
            }
        }
        guard let made else {
            throw KeyError(.unsupportedKey, "keys of \(bits) bits and type \(type.rawValue) cannot be generated")
        }
        try self.init(made, type: type, keyClass: .private)
    }

    /// The public key of a private or public key; nil for a symmetric key.
    package var publicKey: KeyMaterial? {
        guard let publicBytes else { return nil }
        return try? KeyMaterial(publicBytes, type: type, keyClass: .public)
    }

    /// SHA-1 of the public key, which links both keys of a pair and their certificate; nil for a symmetric key.
    package func publicKeyHash() throws(KeyError) -> [UInt8]? {
        guard let publicBytes else { return nil }
        return try KeyError.translating { () throws(GcryptError) in try HashFunction.sha1.digest(of: publicBytes) }
    }

    /// Passes the external representation to a closure, which must not keep the pointer.
    package func withExternalRepresentation<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let secret else {
            let bytes = publicBytes ?? []
            return try bytes.span.withUnsafeBytes(body)
        }
        return try secret.bytes.withUnsafeBytes(body)
    }

    private static func unsupported(_ type: KeyType, _ keyClass: KeyClass) -> KeyError {
        KeyError(.unsupportedKey, "\(keyClass.rawValue) keys of type \(type.rawValue) are not supported")
    }
}

extension KeyMaterial: Hashable {
    package static func == (left: KeyMaterial, right: KeyMaterial) -> Bool {
        guard left.type == right.type, left.keyClass == right.keyClass, left.bits == right.bits,
            left.publicBytes == right.publicBytes
        else { return false }
        // A private key is the one of its public key.
        guard left.publicBytes == nil, let left = left.secret, let right = right.secret else { return true }
        return left.bytes.isEqual(to: right.bytes)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(keyClass)
        hasher.combine(bits)
        hasher.combine(publicBytes)
    }
}

/// The secret bytes of a key, shared by the copies of a value.
final class SharedSecret: Sendable {
    let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes) {
        self.bytes = bytes
    }
}
