import KeychaindGcrypt
import KeychaindModel

extension KeyMaterial {
    /// Signs a message or a digest, as the algorithm says, with a private key.
    package func sign(_ data: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        try check(.sign, algorithm)
        let digest = try algorithm.digest(of: data)
        guard let format = algorithm.signatureFormat else {
            guard let encoding = try encoding(of: digest, algorithm) else {
                throw KeyError(.invalidInput, "\(digest.count) bytes are too many for the key and the algorithm")
            }
            let signature = try encoding.span.withUnsafeBytes { (encoding) throws(KeyError) in
                try privatePower(of: encoding)
            }
            guard let signature else {
                throw KeyError(.invalidInput, "the data is not less than the modulus of the key")
            }
            return signature.withUnsafeBytes { Array($0) }
        }
        return try withScalar { (curve, scalar) throws(GcryptError) in
            try ECDSA.sign(digest, on: curve, with: scalar)
        }.encoded(format)
    }

    /// Whether a signature is one of a message or digest, by the private key of this public key.
    package func verify(
        _ signature: [UInt8],
        of data: [UInt8],
        _ algorithm: KeyAlgorithm
    ) throws(KeyError) -> Bool {
        try check(.verify, algorithm)
        let digest = try algorithm.digest(of: data)
        if let format = algorithm.signatureFormat {
            let curve = try X963.curve(ofPublicKey: publicBytes ?? [])
            guard let signature = ECDSA.Signature(signature, format, size: curve.size) else { return false }
            return try KeyError.translating { () throws(GcryptError) in
                try ECDSA.isValid(signature, of: digest, on: curve, by: publicBytes ?? [])
            }
        }
        guard signature.count == modulusSize else { return false }
        let power = try signature.span.withUnsafeBytes { (signature) throws(KeyError) in
            try publicPower(of: signature)
        }
        guard let encoding = power else { return false }
        if case .rsaSignaturePSS(let hash, _) = algorithm {
            return try KeyError.translating { () throws(GcryptError) in
                try SignaturePadding.isPSS(encoding, of: digest, hash: hash, bits: bits)
            }
        }
        return try self.encoding(of: digest, algorithm) == encoding
    }

    /// The bytes that RSA signs, of the size of the modulus; nil if there is no room.
    private func encoding(of digest: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8]? {
        switch algorithm {
        case .rsaSignatureRaw:
            guard digest.count <= modulusSize else { return nil }
            return [UInt8](repeating: 0, count: modulusSize - digest.count) + digest
        case .rsaSignaturePKCS1Raw:
            return SignaturePadding.pkcs1(digest, size: modulusSize)
        case .rsaSignaturePKCS1(let hash, _):
            return SignaturePadding.pkcs1(hash.digestInfoPrefix + digest, size: modulusSize)
        case .rsaSignaturePSS(let hash, _):
            return try KeyError.translating { () throws(GcryptError) in
                try SignaturePadding.pss(digest, hash: hash, bits: bits)
            }
        default:
            throw unsuitable(algorithm)
        }
    }
}
