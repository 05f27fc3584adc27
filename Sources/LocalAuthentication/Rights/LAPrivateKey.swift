#if Keys
public import Foundation
public import Security

/// The private key of a right, on the curve P-256; the keychain makes it at its first use, and uses it.
///
/// Operations throw ``LAError/Code/notInteractive`` if the right is not authorised; the keychain checks it, not this
/// object.
public final class LAPrivateKey: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
    }

    /// The public key.
    public var publicKey: LAPublicKey { LAPublicKey(of: right) }

    /// Signs data, or a digest, as the algorithm says.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await right.useKey { key, error in SecKeyCreateSignature(key, algorithm, data as NSData, error) as Data? }
    }

    /// Decrypts data.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await right.useKey { key, error in
            SecKeyCreateDecryptedData(key, algorithm, data as NSData, error) as Data?
        }
    }

    /// Agrees on a secret with the owner of another key.
    ///
    /// - Parameters:
    ///   - publicKey: the other public key in ANSI X9.63.
    ///   - algorithm: one of the key exchange algorithms.
    ///   - parameters: with the keys of `SecKeyKeyExchangeParameter`.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [AnyHashable: Any]
    ) async throws -> Data {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        var failure: Unmanaged<CFError>?
        guard let other = SecKeyCreateWithData(publicKey as NSData, attributes as CFDictionary, &failure) else {
            throw failure?.takeRetainedValue() ?? LAError.object(.authenticationFailed, "the key is invalid")
        }
        // `nonisolated(unsafe)`: only read, and only until this method returns.
        nonisolated(unsafe) let settings = parameters as NSDictionary
        return try await right.useKey { key, error in
            SecKeyCopyKeyExchangeResult(key, algorithm, other, settings, error) as Data?
        }
    }

    /// Whether an algorithm can sign with this key.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool {
        LAPrivateKey.isSupported(.sign, algorithm)
    }

    /// Whether an algorithm can decrypt with this key.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        LAPrivateKey.isSupported(.decrypt, algorithm)
    }

    /// Whether an algorithm can agree on a secret with this key.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool {
        LAPrivateKey.isSupported(.keyExchange, algorithm)
    }

    /// Asks any key of the same kind.
    private static func isSupported(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        sample.map { SecKeyIsAlgorithmSupported($0, operation, algorithm) } ?? false
    }

    private static let sample: SecKey? = SecKeyCreateRandomKey(RightKey.kind as CFDictionary, nil)

    fileprivate static var publicSample: SecKey? { sample.flatMap(SecKeyCopyPublicKey) }
}

/// The public key of a right; usable without an authorisation.
public final class LAPublicKey: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
    }

    /// The key in ANSI X9.63.
    public var bytes: Data {
        get async throws {
            try await right.usePublicKey { key, error in SecKeyCopyExternalRepresentation(key, error) as Data? }
        }
    }

    /// Passes the key in ANSI X9.63, or an error; not called on the main thread.
    public func exportBytes(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        Task {
            do {
                handler(try await bytes, nil)
            } catch {
                handler(nil, error)
            }
        }
    }

    /// Encrypts data for the private key.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await right.usePublicKey { key, error in
            SecKeyCreateEncryptedData(key, algorithm, data as NSData, error) as Data?
        }
    }

    /// Verifies a signature of the private key; throws unless it is valid.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        _ = try await right.usePublicKey { key, error in
            SecKeyVerifySignature(key, algorithm, signedData as NSData, signature as NSData, error) ? Data() : nil
        }
    }

    /// Whether an algorithm can encrypt with this key.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        LAPrivateKey.publicSample.map { SecKeyIsAlgorithmSupported($0, .encrypt, algorithm) } ?? false
    }

    /// Whether an algorithm can verify with this key.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
        LAPrivateKey.publicSample.map { SecKeyIsAlgorithmSupported($0, .verify, algorithm) } ?? false
    }
}

extension LAPersistedRight {
    /// The key of the right.
    public var key: LAPrivateKey { LAPrivateKey(of: self) }

    fileprivate typealias KeyOperation = @Sendable (SecKey, UnsafeMutablePointer<Unmanaged<CFError>?>) -> Data?

    fileprivate func useKey(_ operation: @escaping KeyOperation) async throws -> Data {
        // Otherwise the keychain would ask the person, which only `authorize` does.
        guard state == .authorized else { throw LAError.object(.notInteractive, "the right is not authorised") }
        let key = RightKey(identifier)
        let (context, constraints) = (context, requirement.expression)
        return try await Background.value {
            Result { try key.perform(operation, with: try key.privateKey(constraints, in: context)) }
        }.get()
    }

    fileprivate func usePublicKey(_ operation: @escaping KeyOperation) async throws -> Data {
        let key = RightKey(identifier)
        let constraints = requirement.expression
        return try await Background.value {
            Result { try key.perform(operation, with: try key.publicKey(constraints)) }
        }.get()
    }
}
#endif
