import Gcrypt
import KeychainModel

extension WrappedItemKey {
    /// The info of the key derivations.
    static let purpose = Array("keychaind 1 item key".utf8)

    /// Derives the key that wraps an item key: HKDF-SHA256 of the passcode's key and the application password's key,
    /// concatenated; empty for a factor that is not needed.
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

    /// The associated data of a wrapped key.
    static func place(of header: [UInt8], item: ItemID, revision: UInt64, collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .itemKey)
        place.set(item: item.rawValue, column: .itemKey, revision: revision)
        header.withUnsafeBytes { header in place.set(suffix: header) }
        return place
    }

    /// Unwraps an item key; nil when the factors do not open it.
    ///
    /// Slow with an application password.
    ///
    /// - Parameters:
    ///   - passcode: the key pair that the wraps are for.
    ///   - applicationPassword: empty when it is not needed.
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
