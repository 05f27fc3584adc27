import KeychaindGcrypt
import KeychaindModel

/// A new item key before its item has an ID; derived in advance, because wrapping then takes microseconds.
final class NewItemKey: Sendable {
    struct Recipient: Sendable {
        var passcode: [UInt8]?

        /// The identifier of `login`, if the item is in another collection.
        var login: [UInt8]?
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

    /// Slow: one derivation for each alternative with an application password, which is empty if no alternative needs
    /// it.
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

    var alternatives: [FactorSet] { wrappings.map(\.factors) }

    func key(of item: ItemID, revision: UInt64, collection: [UInt8]) throws(GcryptError) -> ItemKey {
        ItemKey(try bytes.copy(in: .locked), item: item, revision: revision, collection: collection)
    }

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
