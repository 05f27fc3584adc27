import Gcrypt
import KeychainModel

/// The key of an item, wrapped for one alternative of its policy.
///
/// Encoded: factors (1: 1 the passcode, 2 the application password, 3 both; 4 more where the passcode is that of another
/// collection), with those 4 the identifier of that collection (16), for the passcode a public key that was made for this (32), for
/// the application password a ``PasswordDerivation`` (28), the sealed key (60). All but the sealed key is bound to it.
struct WrappedItemKey: Equatable, Sendable {
    private static let loginBit: UInt8 = 4
    private static let sealedSize = KeyPurpose.keySize + SealingKey.overhead

    /// What has to be given.
    let factors: FactorSet

    /// The identifier of the `login` whose passcode it takes; nil for the passcode key of the item's own collection.
    let login: [UInt8]?

    /// For the passcode: what its owner needs beside the private key.
    let publicKey: [UInt8]?

    /// For the application password: how the key is derived from it.
    let derivation: PasswordDerivation?

    /// The sealed key.
    let sealed: [UInt8]

    init(
        factors: FactorSet,
        login: [UInt8]?,
        publicKey: [UInt8]?,
        derivation: PasswordDerivation?,
        sealed: [UInt8]
    ) {
        self.factors = factors
        self.login = login
        self.publicKey = publicKey
        self.derivation = derivation
        self.sealed = sealed
    }

    /// Reads the next wrap; nil when there is none of this form.
    init?(from reader: inout ByteReader) {
        guard let number = reader.integer(UInt8.self), let factors = Self.factors(number & ~Self.loginBit) else {
            return nil
        }
        self.factors = factors
        var login: [UInt8]?
        if number & Self.loginBit != 0 {
            guard factors.contains(.passcode), let bytes = reader.bytes(CollectionFormat.identifierSize) else {
                return nil
            }
            login = Array(bytes)
        }
        var publicKey: [UInt8]?
        if factors.contains(.passcode) {
            guard let bytes = reader.bytes(KeyEncapsulation.publicKeySize) else { return nil }
            publicKey = Array(bytes)
        }
        var derivation: PasswordDerivation?
        if factors.contains(.applicationPassword) {
            guard let bytes = reader.bytes(PasswordDerivation.encodedSize) else { return nil }
            derivation = PasswordDerivation(decoding: bytes)
        }
        guard let sealed = reader.bytes(Self.sealedSize) else { return nil }
        self.login = login
        self.publicKey = publicKey
        self.derivation = derivation
        self.sealed = Array(sealed)
    }

    /// The encoded form.
    var encoded: [UInt8] { header + sealed }

    /// What comes before the sealed key.
    var header: [UInt8] {
        Self.header(factors: factors, login: login, publicKey: publicKey, derivation: derivation)
    }

    /// What comes before a sealed key.
    static func header(
        factors: FactorSet,
        login: [UInt8]?,
        publicKey: [UInt8]?,
        derivation: PasswordDerivation?
    ) -> [UInt8] {
        var bytes = [number(factors) | (login == nil ? 0 : loginBit)]
        if let login { bytes += login }
        if let publicKey { bytes += publicKey }
        if let derivation { bytes += derivation.encoded }
        return bytes
    }

    // The numbers in the file are the format's own, whatever those of the model are.
    private static func number(_ factors: FactorSet) -> UInt8 {
        (factors.contains(.passcode) ? 1 : 0) | (factors.contains(.applicationPassword) ? 2 : 0)
    }

    private static func factors(_ number: UInt8) -> FactorSet? {
        switch number {
        case 1: .passcode
        case 2: .applicationPassword
        case 3: .keys
        default: nil
        }
    }
}
