import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel

extension KeyMaterial {
    /// The private key of a scalar; its size tells the curve.
    init(privateScalar scalar: [UInt8]) throws {
        let curve = PrimeCurve.allCases.first { $0.size == scalar.count } ?? .p256
        let point = try curve.publicKey(of: SecureBytes(copying: scalar))
        try self.init(point + scalar, type: .ec, keyClass: .private)
    }

    /// The external representation.
    var bytes: [UInt8] { withExternalRepresentation { Array($0) } }

    func encrypt(_ plaintext: [UInt8], _ algorithm: KeyAlgorithm) throws -> [UInt8] {
        try plaintext.withUnsafeBytes { try encrypt($0, algorithm) }
    }
}

extension SecureBytes {
    /// A copy of the bytes, comparable with `==`.
    borrowing func array() -> [UInt8] {
        withUnsafeBytes { [UInt8]($0) }
    }
}

/// Key pairs, each generated once.
enum Keys {
    static let rsa2048 = Result { try KeyMaterial(making: .rsa, bits: 2048) }
    static let rsa4096 = Result { try KeyMaterial(making: .rsa, bits: 4096) }
    static let p256 = Result { try KeyMaterial(making: .ec, bits: 256) }
    static let p384 = Result { try KeyMaterial(making: .ec, bits: 384) }
    static let p521 = Result { try KeyMaterial(making: .ec, bits: 521) }

    /// The keys of a type.
    static func all(_ type: KeyType) throws -> [KeyMaterial] {
        try (type == .rsa ? [rsa2048, rsa4096] : [p256, p384, p521]).map { try $0.get() }
    }
}
