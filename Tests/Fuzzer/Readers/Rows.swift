import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService

@testable import KeychaindVault

/// What is behind the seals of a keychain and of `state.db`: who has the key of an old copy can seal anything.
extension FuzzReader {
    static let rows = [
        FuzzReader("metadata") { bytes in
            guard let metadata = ItemMetadata(decoding: bytes) else { throw Refusal() }
            let again = metadata.encoded.withUnsafeBytes { ItemMetadata(decoding: $0) }
            promise(again == metadata, "metadata is the same when it is written and read again")
            _ = metadata.wraps?.wraps.map(\.encoded)
            _ = ItemProtection(of: metadata.attributes).needsAuthentication
            _ = KeychainItem(metadata.attributes, label: metadata.label)
        },
        FuzzReader("sealed-row", readSealedRow),
        FuzzReader("sealed-secret") { bytes in
            let secret = try SecretEncoding.decode(SecureBytes(copying: bytes))
            _ = try SecretEncoding.encode(secret)
        },
        FuzzReader("collection-state") { bytes in
            guard let state = CollectionState(decoding: bytes) else { throw Refusal() }
            promise(state.encoded.withUnsafeBytes { CollectionState(decoding: $0) } == state, "a state stays the same")
        },
        FuzzReader("ledger") { bytes in
            guard var ledger = ProtectionLedger(decoding: bytes) else { throw Refusal() }
            promise(
                ledger.encoded.withUnsafeBytes { ProtectionLedger(decoding: $0) } == ledger,
                "a ledger stays the same"
            )
            _ = ledger.unusedItem
            ledger.forgetDeleted { id in id.rawValue.isMultiple(of: 2) }
        },
        FuzzReader("audit-entry") { bytes in
            guard let entry = AuditEntry(decoding: bytes) else { throw Refusal() }
            promise(
                entry.encoded.withUnsafeBytes { AuditEntry(decoding: $0) } == entry,
                "an entry of the audit stays the same"
            )
            let caller = AuditedCaller(packed: entry.caller)
            _ = AuditedCaller(packed: caller.packed)
        },
        FuzzReader("lockout") { bytes in
            let record = LockoutRecord(packed: bytes.copied)
            promise(LockoutRecord(packed: record.packed) == record, "a record of failures stays the same")
            _ = LockoutOwner(name: bytes.text)
        },
        FuzzReader("handed-over-keys") { bytes in
            let start = Array("KCHNKEY".utf8) + [1]
            var content = start + bytes.copied
            let code = try content.withUnsafeBytes { content in
                try HMACSHA256(key: SecureBytes(copying: start)).authenticate(content)
            }
            content += code
            _ = try KeyHandover.decode(SecureBytes(copying: content))
            var kept = try SecureBytes(copying: bytes.copied)
            _ = RestartStamp.take(from: &kept)
        },
    ]

    static let identifier = [UInt8](repeating: 7, count: CollectionFormat.identifierSize)

    /// Derived once: it takes longer than an input.
    private static let collectionKeys = try? UnlockedKeys(
        master: SecureBytes(copying: [UInt8](repeating: 1, count: 32)),
        collection: identifier
    )

    /// A row whose metadata and secret were sealed under the right key, with any content: the first byte divides it.
    private static let readSealedRow: @Sendable (UnsafeRawBufferPointer) throws -> Void = { bytes in
        guard let id = ItemID(rawValue: 1), let size = bytes.first, let keys = collectionKeys else { throw Refusal() }
        let content = bytes.dropFirst()
        let metadata = Array(content.prefix(Int(size) * 8))
        let secret = Array(content.dropFirst(Int(size) * 8))
        let sealed = try keys.collection.seal(
            metadata,
            for: AssociatedData(metadataOf: id, revision: 2, tags: [], collection: identifier)
        )
        var place = AssociatedData(collection: identifier, column: .secret)
        place.set(item: 1, column: .secret, revision: 2)
        var raw: SealingKey?
        keys.secrets.withKey { key in raw = try? key.copy(in: .locked).sealingKey() }
        var sealedSecret: [UInt8] = []
        if let raw = raw.take() {
            sealedSecret = try secret.withUnsafeBytes { secret in
                try place.withBytes { (place) throws(GcryptError) in try raw.seal(secret, associatedData: place) }
            }
        }
        var verifier = RowVerifier(CheckKeys(collection: keys.collection, secrets: keys.secrets))
        try sealed.withUnsafeBytes { metadata in
            try sealedSecret.withUnsafeBytes { secret in
                let row = CollectionFile.Row(
                    id: 1,
                    revision: 2,
                    tags: UnsafeRawBufferPointer(start: nil, count: 0),
                    metadata: metadata,
                    secret: secret,
                    secretBytes: secret.count
                )
                guard try verifier.verify(row) != nil else { throw Refusal() }
            }
        }
        _ = verifier.findings(comparedWith: nil)
        _ = try keys.secrets.open(sealedSecret[...], item: 1, revision: 2)
    }
}

extension SecureBytes {
    fileprivate consuming func sealingKey() throws(GcryptError) -> SealingKey { try SealingKey(self) }
}
