package import KeychaindGcrypt

extension KeyAlgorithm {
    /// The bytes that an algorithm signs for a message or digest: the digest, or the data itself where it names no hash
    /// function.
    ///
    /// Throws ``KeyError/Code/invalidInput`` for a digest of a wrong size.
    package func digest(of data: [UInt8]) throws(KeyError) -> [UInt8] {
        switch self {
        case .rsaSignaturePKCS1(let hash, let form), .rsaSignaturePSS(let hash, let form),
            .ecdsaSignature(let hash, let form, _):
            guard form == .digest else {
                return try KeyError.translating { () throws(GcryptError) in try hash.digest(of: data) }
            }
            guard data.count == hash.size else {
                throw KeyError(.invalidInput, "the digest has \(data.count) bytes, not \(hash.size)")
            }
            return data
        case .ecdsaSignatureDigest, .ecdsaSignatureRFC4754:
            guard !data.isEmpty else { throw KeyError(.invalidInput, "the digest is empty") }
            return data
        default:
            return data
        }
    }

    /// The format of the signatures; nil for other algorithms than ECDSA.
    package var signatureFormat: SignatureFormat? {
        switch self {
        case .ecdsaSignature(_, _, let format), .ecdsaSignatureDigest(let format): format
        case .ecdsaSignatureRFC4754: .rfc4754
        default: nil
        }
    }

    /// Derives the secret of a key agreement from the coordinate x of the shared point.
    ///
    /// - Parameters:
    ///   - size: in bytes, which the key derivation needs.
    ///   - sharedInfo: additional input of the key derivation.
    package func secret(
        from coordinate: consuming SecureBytes,
        size: Int?,
        sharedInfo: [UInt8]
    ) throws(KeyError) -> SecureBytes {
        guard case .ecdhX963(_, let hash) = self else { return coordinate }
        guard let size else { throw KeyError(.invalidInput, "the size of the secret is missing") }
        do throws(GcryptError) {
            return try X963KeyDerivation.derive(from: coordinate, sharedInfo: sharedInfo, hash: hash, count: size)
        } catch {
            throw KeyError(error)
        }
    }
}
