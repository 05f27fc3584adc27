import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindLog
import KeychaindModel
import KeychaindSecretService

@testable import KeychaindVault

/// What is behind the seals of a keychain and of `state`: a program that has the key of an old copy can seal anything.
extension FuzzReader {
    static let sealedContents = [
        FuzzReader("metadata") { bytes in
            guard let metadata = ItemMetadata(decoding: bytes) else { throw Refusal() }
            let again = metadata.encoded.withUnsafeBytes { ItemMetadata(decoding: $0) }
            promise(again == metadata, "metadata is the same when it is written and read again")
            _ = metadata.wraps?.wraps.map(\.encoded)
            _ = ItemProtection(of: metadata.attributes).needsAuthentication
            _ = KeychainItem(metadata.attributes, label: metadata.label)
        },
        FuzzReader("sealed-item", readSealedItem),
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
    static let unlockedKeys = try? UnlockedKeys(
        master: SecureBytes(copying: [UInt8](repeating: 1, count: 32)),
        collection: identifier
    )

    /// An item with any metadata and secret under genuine seals: the first byte divides the rest between them.
    private static let readSealedItem: @Sendable (UnsafeRawBufferPointer) throws -> Void = { bytes in
        guard let record = ItemID(rawValue: 1).flatMap(RecordID.init), let size = bytes.first,
            let keys = unlockedKeys
        else { throw Refusal() }
        let content = bytes.dropFirst()
        let metadata = Array(content.prefix(Int(size) * 8))
        let secret = try seal(Array(content.dropFirst(Int(size) * 8)), keys.secrets)
        let open = ItemContent.open(revision: 2, tags: [])
        try withFolder([:]) { folder in
            let path = folder.file("login.keychain")
            _ = try RecordLog.create(
                path,
                application: CollectionFormat.application,
                uuid: identifier,
                [RecordChange(record, RecordContent(open: open, metadata: metadata, secret: secret))],
                keys.collection.log,
                limits: logLimits
            )
            let log = try CollectionLog(path, readOnly: true, configuration(folder))
            let checkKeys = CheckKeys(collection: keys.collection, secrets: keys.secrets)
            var isGenuine = false
            try log.forEachItem(keys.collection, checksSecrets: true) { id, item in
                isGenuine = item?.isGenuine(id, checkKeys) == true
            }
            guard isGenuine else { throw Refusal() }
        }
        _ = try keys.secrets.open(secret[...], item: 1, revision: 2)
    }

    private static func seal(_ secret: [UInt8], _ key: SecretsKey) throws -> [UInt8] {
        var place = AssociatedData(collection: identifier, column: .secret)
        place.set(item: 1, column: .secret, revision: 2)
        var raw: SealingKey?
        key.withKey { key in raw = try? key.copy(in: .locked).sealingKey() }
        guard let raw = raw.take() else { throw Refusal() }
        return try secret.withUnsafeBytes { secret in
            try place.withBytes { (place) throws(GcryptError) in try raw.seal(secret, associatedData: place) }
        }
    }
}

extension SecureBytes {
    fileprivate consuming func sealingKey() throws(GcryptError) -> SealingKey { try SealingKey(self) }
}
