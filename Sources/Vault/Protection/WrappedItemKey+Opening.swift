import Gcrypt
import KeychainModel

extension WrappedItemKey {
    /// What the info of the derivations says.
    static let purpose = Array("keychaind 1 item key".utf8)

    /// The key that an item's key is wrapped under: HKDF-SHA256 of what the passcode gives and what the application password gives,
    /// joined; empty for what is not asked for.
    static func wrappingKey(
        passcode: borrowing SecureBytes,
        password: borrowing SecureBytes
    ) throws(GcryptError) -> SealingKey {
        var joined = try SecureBytes(count: passcode.count + password.count, in: .locked)
        joined.withUnsafeMutableBytes { joined in
            passcode.withUnsafeBytes { bytes in joined.copyBytes(from: bytes) }
            password.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: joined[(joined.count - bytes.count)...]).copyBytes(from: bytes)
            }
        }
        return try SealingKey(
            HKDFSHA256.derive(from: joined, info: purpose, count: KeyPurpose.keySize, in: .locked)
        )
    }

    /// What a wrapped key is bound to.
    static func place(of header: [UInt8], item: ItemID, revision: UInt64, collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .itemKey)
        place.set(item: item.rawValue, column: .itemKey, revision: revision)
        header.withUnsafeBytes { header in place.set(suffix: header) }
        return place
    }

    /// Unwraps the key of an item; nil when what was given does not open it.
    ///
    /// It takes as long as the derivation from an application password, if that is among the factors.
    ///
    /// - Parameters:
    ///   - passcode: the pair that the wraps of the collection are made to.
    ///   - applicationPassword: empty when it is not among the factors.
    func open(
        passcode: borrowing X25519?,
        applicationPassword: borrowing SecureBytes,
        item: ItemID,
        revision: UInt64,
        collection: [UInt8]
    ) throws(GcryptError) -> ItemKey? {
        do throws(GcryptError) {
            let wrapping = try Self.wrappingKey(
                passcode: passcodeKey(passcode),
                password: passwordKey(applicationPassword)
            )
            let place = Self.place(of: header, item: item, revision: revision, collection: collection)
            var bytes = try SecureBytes(count: KeyPurpose.keySize, in: .locked)
            _ = try bytes.withUnsafeMutableBytes { (bytes) throws(GcryptError) in
                try sealed.withRawBytes { (sealed) throws(GcryptError) in
                    try place.withBytes { (place) throws(GcryptError) in
                        try wrapping.open(sealed, associatedData: place, into: bytes)
                    }
                }
            }
            return ItemKey(bytes, item: item, revision: revision, collection: collection)
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidPublicKey { return nil }
            throw error
        }
    }

    private func passwordKey(_ password: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        guard let derivation else { return try SecureBytes(count: 0) }
        return try derivation.key(from: password)
    }

    private func passcodeKey(_ pair: borrowing X25519?) throws(GcryptError) -> SecureBytes {
        guard let publicKey else { return try SecureBytes(count: 0) }
        switch pair {
        case .some(let pair):
            return try KeyEncapsulation.key(from: publicKey, of: pair, purpose: Self.purpose)
        case .none:
            throw GcryptError(.authenticationFailed, reason: "the passcode was not given")
        }
    }
}
