package import KeychaindGcrypt
package import KeychaindModel

/// A difference between a past state of a keychain and the present one.
package struct ItemDifference: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Only the present keychain has the item.
        case added = 1
        case changed = 2
        /// Only the past state has the item.
        case removed = 3
    }

    package let kind: Kind
    package let item: ItemID
    /// The label in the past state; of an added item, the present label.
    package let label: String
    /// Whether it is protected now, was then, or was at some time between.
    package let isProtected: Bool
}

/// The items of a backup, opened with a password or recovery key.
package final class BackupContents: Sendable {
    fileprivate let table: ItemTable
    fileprivate let secrets: SecretsKey
    let identifier: [UInt8]

    /// Throws `wrongPassword`, `mistypedRecoveryKey`, `unreadable` and disk errors; blocks.
    init(of backup: StagedBackup, openedBy text: borrowing SecureBytes) throws(VaultError) {
        guard let opened = try backup.header.open(with: text) else { throw VaultError.noKeySlotOpens }
        let keys = try UnlockedKeys(master: opened.master, collection: backup.header.identifier)
        // All are needed, and a copy has no more bytes.
        let size = Int(VaultLimits().copyBytes)
        table = try backup.log().load(keys.collection, into: nil, indexKey: nil, residentSecretBytes: size).table
        secrets = keys.secrets
        identifier = backup.header.identifier
    }
}

extension Vault {
    /// Opens a staged backup, to look at its items; throws `wrongPassword`, `unreadable` and disk errors.
    package func contents(
        of backup: StagedBackup,
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) -> BackupContents {
        guard let context else { throw VaultError.vaultClosed }
        let text = Handoff(text)
        return try await context.derivations.perform { () throws(VaultError) in
            guard let text = text.take() else { throw VaultError.vaultClosed }
            return try BackupContents(of: backup, openedBy: text)
        }
    }

    /// The present collection that a backup is a copy of; nil if there is none.
    package func original(of backup: StagedBackup) -> Collection? {
        collections.first { other in other.header?.identifier == backup.header.identifier }
    }
}

extension Collection {
    /// The differences between a past state and the unlocked collection, by item.
    package func differences(from past: BackupContents) -> [ItemDifference] {
        var differences: [ItemDifference] = []
        for id in past.table.ids {
            guard let then = past.table[id], then.condition == .intact else { continue }
            let kind: ItemDifference.Kind
            if let now = table[id] {
                // After a restore two states can have the same revision.
                if now.revision == then.revision, now.metadata == then.metadata { continue }
                kind = .changed
            } else {
                kind = .removed
            }
            differences.append(difference(kind, id, then.metadata))
        }
        for id in table.ids where !past.table.contains(id) {
            guard let now = table[id] else { continue }
            differences.append(difference(.added, id, now.metadata))
        }
        return differences
    }

    private func difference(_ kind: ItemDifference.Kind, _ id: ItemID, _ metadata: ItemMetadata) -> ItemDifference {
        let isProtected =
            metadata.wraps != nil || ItemProtection(of: metadata.attributes).needsAuthentication
            || table.protection(of: id).needsAuthentication || (ledger.known.map { $0.marks[id] != nil } ?? true)
        return ItemDifference(kind: kind, item: id, label: metadata.label, isProtected: isProtected)
    }

    /// Puts an item back as it was; a removed one replaces an item with equal attributes.
    ///
    /// Protected items are refused with `authenticationNeeded`: only a restore of the whole keychain brings them back,
    /// under the ledger.
    package func putBack(_ difference: ItemDifference, from past: BackupContents) async throws(VaultError)
        -> ItemCreation
    {
        guard let then = past.table[difference.item], let sealed = then.sealedSecret else {
            throw VaultError(.unreadable, reason: "the past state does not have the item")
        }
        guard !self.difference(difference.kind, difference.item, then.metadata).isProtected else {
            throw VaultError(.authenticationNeeded, reason: "the item is protected")
        }
        let metadata = then.metadata
        let secret = try past.secrets.open(sealed, item: then.id.rawValue, revision: metadata.secretRevision)
        guard table.contains(then.id) else {
            return try await createItem(
                label: metadata.label,
                attributes: metadata.attributes,
                secret: secret,
                replacing: true
            )
        }
        try await updateItem(then.id, label: metadata.label, attributes: metadata.attributes, secret: secret)
        return .replaced(then.id)
    }
}
