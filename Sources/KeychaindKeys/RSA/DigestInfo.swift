import KeychaindGcrypt

extension HashFunction {
    /// The DER of `DigestInfo` up to the digest (RFC 8017, section 9.2, note 1).
    var digestInfoPrefix: [UInt8] {
        let algorithm: [UInt8] =
            switch self {
            case .sha1: [0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a]
            case .sha224: HashFunction.sha2Identifier + [0x04]
            case .sha256: HashFunction.sha2Identifier + [0x01]
            case .sha384: HashFunction.sha2Identifier + [0x02]
            case .sha512: HashFunction.sha2Identifier + [0x03]
            }
        let null: [UInt8] = [0x05, 0x00]
        let identifier = [0x30, UInt8(algorithm.count + null.count)] + algorithm + null
        return [0x30, UInt8(identifier.count + 2 + size)] + identifier + [0x04, UInt8(size)]
    }

    /// The object identifiers of SHA-2, up to their last number.
    private static let sha2Identifier: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]
}
