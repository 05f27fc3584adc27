#if Keys
import Foundation

// Deprecated on Apple's systems since iOS 15 and macOS 12; old code for both still calls them.

/// The result of ``SecKeyRawVerify(_:_:_:_:_:_:)`` for a signature that is not one of the data.
public let errSSLCrypto: OSStatus = -9809

/// Signs data with a private key; use ``SecKeyCreateSignature(_:_:_:_:)`` in new code.
///
/// - Parameters:
///   - key: a private key.
///   - padding: the padding, which also says whether the data is a digest.
///   - dataToSign: the data.
///   - dataToSignLen: its size.
///   - sig: receives the signature.
///   - sigLen: the room for the signature, then its size.
/// - Returns: ``errSecParam`` if padding, key and data do not fit together, or the signature its room.
public func SecKeyRawSign(
    _ key: SecKey,
    _ padding: SecPadding,
    _ dataToSign: UnsafePointer<UInt8>,
    _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status(of: { () throws(StatusError) in
        let algorithm = try required(key.signatureAlgorithm(padding))
        try write(key.sign(bytes(dataToSign, dataToSignLen), algorithm), sig, sigLen)
    })
}

/// Verifies a signature with a public key; use ``SecKeyVerifySignature(_:_:_:_:_:)`` in new code.
///
/// - Parameters:
///   - key: a public key.
///   - padding: the padding, which also says whether the data is a digest.
///   - signedData: the data.
///   - signedDataLen: its size.
///   - sig: the signature.
///   - sigLen: its size.
/// - Returns: ``errSSLCrypto`` if the signature is not one of the data, ``errSecParam`` if padding and key do not fit.
public func SecKeyRawVerify(
    _ key: SecKey,
    _ padding: SecPadding,
    _ signedData: UnsafePointer<UInt8>,
    _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    let result = status { () throws(StatusError) in
        let algorithm = try required(key.signatureAlgorithm(padding))
        try key.verify(bytes(sig, sigLen), of: bytes(signedData, signedDataLen), algorithm)
    }
    return result == errSecVerifyFailed ? errSSLCrypto : result
}

/// Encrypts data for the owner of a public RSA key; use ``SecKeyCreateEncryptedData(_:_:_:_:)`` in new code.
///
/// - Parameters:
///   - key: a public key.
///   - padding: none, ``SecPadding/PKCS1`` or ``SecPadding/OAEP``.
///   - plainText: the data.
///   - plainTextLen: its size.
///   - cipherText: receives the ciphertext.
///   - cipherTextLen: the room for the ciphertext, then its size.
/// - Returns: ``errSecParam`` if padding, key and data do not fit together, or the ciphertext its room.
public func SecKeyEncrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ plainText: UnsafePointer<UInt8>,
    _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status(of: { () throws(StatusError) in
        let algorithm = try required(key.encryptionAlgorithm(padding))
        let data = Data(try bytes(plainText, plainTextLen))
        try write(key.encrypt(data, algorithm), cipherText, cipherTextLen)
    })
}

/// Decrypts a ciphertext with a private RSA key; use ``SecKeyCreateDecryptedData(_:_:_:_:)`` in new code.
///
/// Without padding, zeros in front of the data are removed.
///
/// - Parameters:
///   - key: a private key.
///   - padding: none, ``SecPadding/PKCS1`` or ``SecPadding/OAEP``.
///   - cipherText: the ciphertext.
///   - cipherTextLen: its size.
///   - plainText: receives the data.
///   - plainTextLen: the room for the data, then its size.
/// - Returns: ``errSecParam`` for a ciphertext that is not one for the key, and if the data does not fit its room.
public func SecKeyDecrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ cipherText: UnsafePointer<UInt8>,
    _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status(of: { () throws(StatusError) in
        let algorithm = try required(key.encryptionAlgorithm(padding))
        let data = try key.decrypt(bytes(cipherText, cipherTextLen), algorithm)
        try write(padding == [] ? data.drop { $0 == 0 } : data, plainText, plainTextLen)
    })
}

private func required(_ algorithm: SecKeyAlgorithm?) throws(StatusError) -> SecKeyAlgorithm {
    guard let algorithm else { throw StatusError(errSecParam, "the padding is not one for the key") }
    return algorithm
}

private func bytes(_ start: UnsafePointer<UInt8>, _ count: Int) throws(StatusError) -> [UInt8] {
    guard count >= 0 else { throw StatusError(errSecParam, "the size is negative") }
    return Array(UnsafeBufferPointer(start: start, count: count))
}

private func write(
    _ bytes: some Collection<UInt8>,
    _ output: UnsafeMutablePointer<UInt8>,
    _ size: UnsafeMutablePointer<Int>
) throws(StatusError) {
    guard bytes.count <= size.pointee else {
        throw StatusError(errSecParam, "the result has \(bytes.count) bytes, its room \(size.pointee)")
    }
    size.pointee = bytes.count
    _ = UnsafeMutableBufferPointer(start: output, count: bytes.count).update(fromContentsOf: bytes)
}
#endif
