import KeychaindGcrypt
import Testing

/// The code of the error that an operation throws; nil for none.
func code(of operation: () throws -> Void) -> GcryptError.Code? {
    do {
        try operation()
        return nil
    } catch {
        return (error as? GcryptError)?.code
    }
}

/// An empty buffer without an address, as some callers pass.
var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

extension SecureBytes {
    /// A copy of the bytes, comparable with `==`.
    borrowing func array() -> [UInt8] {
        withUnsafeBytes { [UInt8]($0) }
    }
}

extension SealingKey {
    /// Seals arrays.
    borrowing func seal(_ plaintext: [UInt8], _ associatedData: [UInt8], nonce: [UInt8]? = nil) throws -> [UInt8] {
        try plaintext.withUnsafeBytes { plaintext in
            try associatedData.withUnsafeBytes { associatedData in
                guard let nonce else { return try seal(plaintext, associatedData: associatedData) }
                return try seal(plaintext, associatedData: associatedData, nonce: nonce)
            }
        }
    }

    /// Opens arrays.
    borrowing func open(_ sealed: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8] {
        try sealed.withUnsafeBytes { sealed in
            try associatedData.withUnsafeBytes { try open(sealed, associatedData: $0).array() }
        }
    }
}

extension SessionCipher {
    /// Encrypts an array.
    borrowing func encrypt(_ plaintext: [UInt8], iv: [UInt8]) throws -> [UInt8] {
        try plaintext.withUnsafeBytes { try encrypt($0, iv: iv) }
    }

    /// Decrypts arrays.
    borrowing func decrypt(_ ciphertext: [UInt8], iv: [UInt8]) throws -> [UInt8] {
        try ciphertext.withUnsafeBytes { ciphertext in
            try iv.withUnsafeBytes { try decrypt(ciphertext, iv: $0).array() }
        }
    }
}

extension DiffieHellman {
    /// Derives the shared secret from a public key in an array.
    borrowing func sharedSecret(with peer: [UInt8]) throws -> SecureBytes {
        try peer.span.withUnsafeBytes { try sharedSecret(with: $0) }
    }
}

/// Initializes a pool of locked memory that suffices for parallel tests.
struct LockedPool: SuiteTrait {
    func prepare(for test: Test) async throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)
    }
}

extension Trait where Self == LockedPool {
    /// Initializes a large pool of locked memory.
    static var lockedPool: LockedPool { LockedPool() }
}
