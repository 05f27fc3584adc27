import Gcrypt
import KeychainModel

/// A key for an item that is yet to be sealed, and what it will be wrapped under.
///
/// Made before the item has a number, since key derivation takes time: what is left to do then takes microseconds.
final class NewItemKey: Sendable {
    /// What is given for the alternatives of a policy.
    struct Recipient: Sendable {
        /// The public key of whoever has the passcode.
        var passcode: [UInt8]?

        /// The identifier of `login`, if that is another collection than the item's.
        var login: [UInt8]?

        /// The costs of a password's derivation.
        var costs: Argon2id
    }

    private final class Wrapping: Sendable {
        let factors: FactorSet
        let login: [UInt8]?
        let publicKey: [UInt8]?
        let derivation: PasswordDerivation?
        let key: SealingKey

        init(
            _ factors: FactorSet,
            to recipient: Recipient,
            applicationPassword: borrowing SecureBytes
        ) throws(GcryptError) {
            self.factors = factors
            let passcodeKey: SecureBytes
            if factors.contains(.passcode) {
                let encapsulation = try KeyEncapsulation(to: recipient.passcode ?? [], purpose: WrappedItemKey.purpose)
                login = recipient.login
                publicKey = encapsulation.publicKey
                passcodeKey = try encapsulation.key.copy(in: .locked)
            } else {
                login = nil
                publicKey = nil
                passcodeKey = try SecureBytes(count: 0)
            }
            let passwordKey: SecureBytes
            if factors.contains(.applicationPassword) {
                let derivation = try PasswordDerivation(recipient.costs)
                self.derivation = derivation
                passwordKey = try derivation.key(from: applicationPassword)
            } else {
                derivation = nil
                passwordKey = try SecureBytes(count: 0)
            }
            key = try WrappedItemKey.wrappingKey(passcode: passcodeKey, password: passwordKey)
        }
    }

    private let bytes: SecureBytes
    private let wrappings: [Wrapping]

    /// Makes a random key.
    ///
    /// It takes as long as the derivation from a password, once for each alternative that has one.
    ///
    /// - Parameter applicationPassword: empty when no alternative asks for one.
    init(
        alternatives: [FactorSet],
        to recipient: Recipient,
        applicationPassword: borrowing SecureBytes
    ) throws(GcryptError) {
        bytes = try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
        var wrappings: [Wrapping] = []
        for alternative in alternatives {
            wrappings.append(try Wrapping(alternative, to: recipient, applicationPassword: applicationPassword))
        }
        self.wrappings = wrappings
    }

    /// What of each alternative gives key material.
    var alternatives: [FactorSet] { wrappings.map(\.factors) }

    /// The key as an item's.
    func key(of item: ItemID, revision: UInt64, collection: [UInt8]) throws(GcryptError) -> ItemKey {
        ItemKey(try bytes.copy(in: .locked), item: item, revision: revision, collection: collection)
    }

    /// Wraps the key for an item.
    func wraps(of item: ItemID, revision: UInt64, collection: [UInt8]) throws(GcryptError) -> ItemKeyWraps {
        var wraps: [WrappedItemKey] = []
        for wrapping in wrappings {
            let (publicKey, derivation) = (wrapping.publicKey, wrapping.derivation)
            let header = WrappedItemKey.header(
                factors: wrapping.factors,
                login: wrapping.login,
                publicKey: publicKey,
                derivation: derivation
            )
            let place = WrappedItemKey.place(of: header, item: item, revision: revision, collection: collection)
            let sealed = try bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
                try place.withBytes { (place) throws(GcryptError) in
                    try wrapping.key.seal(bytes, associatedData: place)
                }
            }
            wraps.append(
                WrappedItemKey(
                    factors: wrapping.factors,
                    login: wrapping.login,
                    publicKey: publicKey,
                    derivation: derivation,
                    sealed: sealed
                )
            )
        }
        return ItemKeyWraps(wraps, revision: revision)
    }
}
