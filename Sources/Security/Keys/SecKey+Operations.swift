#if Keys
import Foundation
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel

// The operations of a key wherever it is stored.
extension SecKey {
    func supports(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) -> Bool {
        algorithm.fits(operation, type: type, keyClass: keyClass, bits: bits)
    }

    func sign(_ data: [UInt8], _ algorithm: SecKeyAlgorithm) throws(StatusError) -> [UInt8] {
        let algorithm = try checked(.sign, algorithm)
        switch storage {
        case .material(let material, _):
            return try StatusError.translating(key: { () throws(KeyError) in try material.sign(data, algorithm) })
        case .stored(let key):
            return try key.sign(data, algorithm)
        }
    }

    /// Throws ``errSecVerifyFailed`` for another signature.
    func verify(
        _ signature: [UInt8],
        of data: [UInt8],
        _ algorithm: SecKeyAlgorithm
    ) throws(StatusError) {
        let algorithm = try checked(.verify, algorithm)
        let isValid = try StatusError.translating(key: { () throws(KeyError) in
            try publicKey?.verify(signature, of: data, algorithm)
        })
        guard isValid == true else { throw StatusError(errSecVerifyFailed, "the signature is not one of the data") }
    }

    func encrypt(_ plaintext: Data, _ algorithm: SecKeyAlgorithm) throws(StatusError) -> [UInt8] {
        let algorithm = try checked(.encrypt, algorithm)
        let ciphertext = try StatusError.translating(key: { () throws(KeyError) in
            try publicKey?.encrypt(plaintext, algorithm)
        })
        guard let ciphertext else { throw unsuitable(algorithm.rawValue) }
        return ciphertext
    }

    func decrypt(_ ciphertext: [UInt8], _ algorithm: SecKeyAlgorithm) throws(StatusError) -> Data {
        let algorithm = try checked(.decrypt, algorithm)
        switch storage {
        case .material(let material, _):
            return try StatusError.translating(key: { () throws(KeyError) in
                try material.decrypt(ciphertext, algorithm).withUnsafeBytes { Data($0) }
            })
        case .stored(let key):
            return Data(try key.decrypt(ciphertext, algorithm))
        }
    }

    func agree(
        with publicKey: SecKey,
        _ algorithm: SecKeyAlgorithm,
        size: Int?,
        sharedInfo: [UInt8]
    ) throws(StatusError) -> Data {
        let algorithm = try checked(.agree, algorithm)
        guard publicKey.keyClass == .public, let point = publicKey.publicKey?.publicBytes else {
            throw StatusError(errSecParam, "the other key is not a public key")
        }
        switch storage {
        case .material(let material, _):
            return try StatusError.translating(key: { () throws(KeyError) in
                try material.agree(with: point, algorithm, size: size, sharedInfo: sharedInfo)
                    .withUnsafeBytes { Data($0) }
            })
        case .stored(let key):
            return Data(try key.agree(with: point, algorithm, size: size, sharedInfo: sharedInfo))
        }
    }

    private func checked(
        _ operation: KeyOperation,
        _ algorithm: SecKeyAlgorithm
    ) throws(StatusError) -> KeyAlgorithm {
        guard let known = KeyAlgorithm(rawValue: algorithm.name), supports(operation, known) else {
            throw unsuitable(algorithm.name)
        }
        return known
    }

    private func unsuitable(_ algorithm: String) -> StatusError {
        StatusError(errSecParam, "\(algorithm): algorithm not supported by the key, a \(self)")
    }
}

extension KeyMaterial {
    fileprivate func encrypt(_ plaintext: Data, _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        var result: Result<[UInt8], KeyError> = .success([])
        plaintext.withUnsafeBytes { plaintext in
            result = Result { () throws(KeyError) in try encrypt(plaintext, algorithm) }
        }
        return try result.get()
    }
}
#endif
