#if Keys
public import Foundation
import KeychaindKeys

/// What a key does.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Signing, by a private key.
    case sign = 0
    /// Verifying a signature, by a public key.
    case verify = 1
    /// Encrypting, by a public key.
    case encrypt = 2
    /// Decrypting, by a private key.
    case decrypt = 3
    /// Agreeing on a secret, by a private key and the public key of the other side.
    case keyExchange = 4
}

/// Signs data with a private key.
///
/// - Parameters:
///   - key: a private key.
///   - algorithm: one of the signature algorithms.
///   - dataToSign: a message or a digest, as the algorithm says.
///   - error: receives an error; ``errSecParam`` if the algorithm does not fit the key, or the data the algorithm.
/// - Returns: the signature; nil on error.
public func SecKeyCreateSignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(StatusError) in
        Data(try key.sign(dataToSign.contents, algorithm)) as NSData
    }
}

/// Verifies a signature with a public key.
///
/// - Parameters:
///   - key: a public key.
///   - algorithm: the algorithm of the signature.
///   - signedData: the message or digest.
///   - signature: the signature.
///   - error: receives an error; ``errSecVerifyFailed`` if the signature is not one of the data.
/// - Returns: whether the signature is valid.
public func SecKeyVerifySignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ signedData: CFData,
    _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    reporting(to: error) { () throws(StatusError) in
        try key.verify(signature.contents, of: signedData.contents, algorithm)
        return true
    } ?? false
}

/// Encrypts data for the owner of a public key.
///
/// - Parameters:
///   - key: a public key.
///   - algorithm: one of the encryption algorithms.
///   - plaintext: the data.
///   - error: receives an error; ``errSecParam`` if the algorithm does not fit the key, or the data is too long.
/// - Returns: the ciphertext; nil on error.
public func SecKeyCreateEncryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(StatusError) in
        Data(try key.encrypt(plaintext as Data, algorithm)) as NSData
    }
}

/// Decrypts a ciphertext with a private key.
///
/// - Parameters:
///   - key: a private key.
///   - algorithm: the algorithm of the ciphertext.
///   - ciphertext: the ciphertext.
///   - error: receives an error; ``errSecParam`` for every ciphertext that is not one for the key.
/// - Returns: the data; nil on error.
public func SecKeyCreateDecryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(StatusError) in
        try key.decrypt(ciphertext.contents, algorithm) as NSData
    }
}

/// Agrees on a secret with the owner of a public key.
///
/// - Parameters:
///   - privateKey: a private key of an elliptic curve.
///   - algorithm: one of the key-exchange algorithms.
///   - publicKey: the public key of the other side, on the same curve.
///   - parameters: ``SecKeyKeyExchangeParameter/requestedSize`` in bytes, which key derivation needs, and
///     ``SecKeyKeyExchangeParameter/sharedInfo``.
///   - error: receives an error; ``errSecParam`` if keys, algorithm and parameters do not fit together.
/// - Returns: the secret; nil on error.
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ publicKey: SecKey,
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(StatusError) in
        let parameters = try KeyExchangeParameters(parameters)
        return try privateKey.agree(
            with: publicKey,
            algorithm,
            size: parameters.size,
            sharedInfo: parameters.sharedInfo
        ) as NSData
    }
}

/// Whether a key can do an operation with an algorithm.
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey,
    _ operation: SecKeyOperationType,
    _ algorithm: SecKeyAlgorithm
) -> Bool {
    guard let known = KeyAlgorithm(rawValue: algorithm.name) else { return false }
    return key.supports(KeyOperation(operation), known)
}

extension KeyOperation {
    fileprivate init(_ operation: SecKeyOperationType) {
        self =
            switch operation {
            case .sign: .sign
            case .verify: .verify
            case .encrypt: .encrypt
            case .decrypt: .decrypt
            case .keyExchange: .agree
            }
    }
}
#endif
