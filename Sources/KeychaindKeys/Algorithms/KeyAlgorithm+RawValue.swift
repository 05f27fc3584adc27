import KeychaindGcrypt

extension KeyAlgorithm: RawRepresentable {
    /// Apple's identifier.
    package var rawValue: String {
        switch self {
        case .rsaSignatureRaw: "algid:sign:RSA:raw"
        case .rsaSignaturePKCS1Raw: "algid:sign:RSA:digest-PKCS1v15"
        case .rsaSignaturePKCS1(let hash, let form): "algid:sign:RSA:\(form.rawValue)-PKCS1v15:\(hash.name)"
        case .rsaSignaturePSS(let hash, let form):
            "algid:sign:RSA:\(form.rawValue)-PSS:\(hash.name):\(hash.name):\(hash.namedSaltSize)"
        case .ecdsaSignatureDigest(let format): "algid:sign:ECDSA:digest-\(format.rawValue)"
        case .ecdsaSignatureRFC4754: "algid:sign:ECDSA:RFC4754"
        case .ecdsaSignature(let hash, let form, let format):
            "algid:sign:ECDSA:\(form.rawValue)-\(format.rawValue):\(hash.name)"
        case .rsaEncryptionRaw: "algid:encrypt:RSA:raw"
        case .rsaEncryptionPKCS1: "algid:encrypt:RSA:PKCS1"
        case .rsaEncryptionOAEP(let hash): "algid:encrypt:RSA:OAEP:\(hash.name)"
        case .rsaEncryptionOAEPAESGCM(let hash): "algid:encrypt:RSA:OAEP:\(hash.name):AESGCM"
        case .ecies(let agreement, let hash, .zero):
            "algid:encrypt:ECIES:\(agreement.rawValue):KDFX963:\(hash.name):AESGCM"
        case .ecies(let agreement, let hash, .derived):
            "algid:encrypt:ECIES:\(agreement.rawValue):KDFX963:\(hash.name):AESGCM-KDFIV"
        case .ecdh(let agreement): "algid:keyexchange:\(agreement.rawValue)"
        case .ecdhX963(let agreement, let hash): "algid:keyexchange:\(agreement.rawValue):KDFX963:\(hash.name)"
        }
    }

    package init?(rawValue: String) {
        guard let found = KeyAlgorithm.byName[rawValue] else { return nil }
        self = found
    }

    private static let byName: [String: KeyAlgorithm] = {
        var byName: [String: KeyAlgorithm] = [:]
        for algorithm in allCases { byName[algorithm.rawValue] = algorithm }
        return byName
    }()
}

extension KeyAlgorithm: CaseIterable {
    package static let allCases: [KeyAlgorithm] = {
        var all: [KeyAlgorithm] = [
            .rsaSignatureRaw, .rsaSignaturePKCS1Raw, .ecdsaSignatureRFC4754, .rsaEncryptionRaw, .rsaEncryptionPKCS1,
        ]
        for format in SignatureFormat.allCases { all.append(.ecdsaSignatureDigest(format)) }
        for agreement in Agreement.allCases { all.append(.ecdh(agreement)) }
        for hash in HashFunction.allCases {
            for form in SignedForm.allCases {
                all.append(.rsaSignaturePKCS1(hash, form))
                all.append(.rsaSignaturePSS(hash, form))
                for format in SignatureFormat.allCases { all.append(.ecdsaSignature(hash, form, format)) }
            }
            all.append(.rsaEncryptionOAEP(hash))
            all.append(.rsaEncryptionOAEPAESGCM(hash))
            for agreement in Agreement.allCases {
                all.append(.ecdhX963(agreement, hash))
                all.append(.ecies(agreement, hash, .zero))
                // Apple has no name for SHA-1 here.
                if hash != .sha1 { all.append(.ecies(agreement, hash, .derived)) }
            }
        }
        return all
    }()
}

extension HashFunction {
    fileprivate var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha224: "SHA224"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    /// The size of the salt in the name; the salt has the size of the digest.
    fileprivate var namedSaltSize: Int {
        // Apple's identifiers say 24 for SHA-224.
        self == .sha224 ? 24 : size
    }
}
