import KeychaindGcrypt
import KeychaindModel

/// An item key, wrapped for one alternative of its policy.
///
/// Encoding: factors (1; 1 passcode, 2 application password, 3 both; plus 4 for another collection's passcode), with
/// that 4 the identifier of the collection (16), for the passcode a public key (32), for the application password a
/// ``PasswordDerivation`` (28), the sealed key (60). The sealed key is bound to the rest.
struct WrappedItemKey: Equatable, Sendable {
    private static let loginBit: UInt8 = 4
    private static let sealedSize = KeyPurpose.keySize + SealingKey.overhead
    let factors: FactorSet

    /// The identifier of the `login` whose passcode is needed; nil in `login` itself, or for none.
    let login: [UInt8]?

    let publicKey: [UInt8]?

    let derivation: PasswordDerivation?
    let sealed: [UInt8]

    var encoded: [UInt8] { header + sealed }

    var header: [UInt8] {
        Self.header(factors: factors, login: login, publicKey: publicKey, derivation: derivation)
    }

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

    // The numbers in the file are independent of those in the model.
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

extension WrappedItemKey {
    init?(from reader: inout FieldReader) {
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

    static func place(of header: [UInt8], item: ItemID, revision: UInt64, collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .itemKey)
        place.set(item: item.rawValue, column: .itemKey, revision: revision)
        header.withUnsafeBytes { header in place.set(suffix: header) }
        return place
    }

    /// Unwraps an item key; nil when the factors do not open it.
    ///
    /// Slow with an application password; empty when not needed.
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

/// The wraps of an item key, one per alternative of the policy; encoded as revision of the key (8), then the wraps.
struct ItemKeyWraps: Equatable, Sendable {
    /// The encoding, which is all that is kept in memory.
    let encoded: [UInt8]

    init(_ wraps: [WrappedItemKey], revision: UInt64) {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: revision)
        for wrap in wraps { bytes += wrap.encoded }
        encoded = bytes
    }

    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard reader.integer(UInt64.self) != nil, let wraps = Self.wraps(&reader), !wraps.isEmpty else { return nil }
        encoded = Array(bytes)
    }

    var revision: UInt64 {
        encoded.withUnsafeBytes { bytes in UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    }

    var wraps: [WrappedItemKey] {
        encoded.withUnsafeBytes { bytes in
            var reader = FieldReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8)))
            return Self.wraps(&reader) ?? []
        }
    }

    /// The factors with key material in each alternative, in the order of ``Policy/keyAlternatives``.
    var alternatives: [FactorSet] { wraps.map(\.factors) }

    private static func wraps(_ reader: inout FieldReader) -> [WrappedItemKey]? {
        var wraps: [WrappedItemKey] = []
        while !reader.remaining.isEmpty {
            guard let wrap = WrappedItemKey(from: &reader) else { return nil }
            wraps.append(wrap)
        }
        return wraps
    }
}
