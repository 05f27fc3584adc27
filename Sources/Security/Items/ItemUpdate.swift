import KeychaindModel
import SecretServiceClient

/// A found item to change.
struct UpdateTarget: Sendable {
    let match: Match
    let itemClass: ItemClass?
    let changes: ItemQuery
    /// The new secret; nil for none.
    let secret: SharedSecret?
}

/// The changes of one item, checked and ready to be written.
struct ItemUpdate: Sendable {
    let item: SecretItem
    /// The new contents.
    var new: ItemContents
    /// The label and attributes that ``new`` replaces.
    var old = ItemContents()
    /// The new primary key and the names of its attributes; nil if it stays.
    var key: (values: UniqueAttributes, names: [String])?
}

/// Parts of an item; nil for those that stay as they are.
struct ItemContents: Sendable {
    var label: String?
    var attributes: [String: String]?
    var secret: SharedSecret?
}

/// Writes the items of an update, all of them or none.
///
/// keychaind writes an item at once, other providers its attributes, label and secret one by one. If a write fails, the
/// earlier ones are taken back, the last one first, except those of items with an access control, where a person would
/// have to be asked. What another program has written meanwhile is overwritten.
struct UpdateWriter: ~Copyable {
    private let unlocking: ItemUnlocking
    private var written: [(item: SecretItem, old: ItemContents)] = []

    init(_ unlocking: ItemUnlocking) {
        self.unlocking = unlocking
    }

    /// Returns the number of items; those that were deleted meanwhile do not count.
    mutating func write(_ updates: [ItemUpdate]) async throws(SecretServiceError) -> Int {
        var count = 0
        do throws(SecretServiceError) {
            for (index, update) in updates.enumerated() {
                // Nothing follows the last one that could fail.
                if try await write(update, isLast: index == updates.count - 1) { count += 1 }
            }
        } catch {
            await takeBack()
            throw error
        }
        return count
    }

    private mutating func write(_ update: ItemUpdate, isLast: Bool) async throws(SecretServiceError) -> Bool {
        let item = update.item
        var old = update.old
        // From a locked item, a reading would be refused, and audited as an attempt without authentication.
        if update.new.secret != nil, !isLast, (try? await item.isLocked()) == false {
            old.secret = try? await SharedSecret(of: item)
        }
        do throws(SecretServiceError) {
            if try await unlocking.using(item, { () throws(SecretServiceError) in try await update.writeAtOnce() }) {
                written.append((item, old))
                return true
            }
            for (newPart, oldPart) in zip(update.new.split(like: update.new), old.split(like: update.new)) {
                try await unlocking.using(item) { () throws(SecretServiceError) in try await item.write(newPart) }
                written.append((item, oldPart))
            }
            return true
        } catch  where error.code == .noSuchObject {
            return false
        }
    }

    /// Shows no dialog: what cannot be taken back stays.
    private func takeBack() async {
        for (item, old) in written.reversed() {
            // With a grant for reading, a change waits for a dialog.
            guard let properties = try? await item.properties(), !KeychainItem(properties).needsAuthentication else {
                continue
            }
            let isDone = try? await ItemUpdate(item: item, new: old).writeAtOnce()
            guard isDone == false else { continue }
            for part in old.split(like: old) { try? await item.write(part) }
        }
    }
}

extension ItemUpdate {
    /// Writes all in one step; returns false if the provider cannot.
    fileprivate func writeAtOnce() async throws(SecretServiceError) -> Bool {
        guard new.label != nil || new.attributes != nil else {
            try await item.write(new)
            return true
        }
        let names = key?.names ?? []
        guard let secret = new.secret else {
            return try await item.change(label: new.label, attributes: new.attributes, unique: names)
        }
        return try await item.change(
            label: new.label,
            attributes: new.attributes,
            unique: names,
            secret: secret.secret,
            prompting: .never
        )
    }
}

extension ItemContents {
    /// One after the other, what others contain: the secret last, since it cannot always be read to take it back.
    fileprivate func split(like other: ItemContents) -> [ItemContents] {
        var parts: [ItemContents] = []
        if other.attributes != nil { parts.append(ItemContents(attributes: attributes)) }
        if other.label != nil { parts.append(ItemContents(label: label)) }
        if other.secret != nil { parts.append(ItemContents(secret: secret)) }
        return parts
    }
}

extension SecretItem {
    /// Writes parts, each in a step of its own.
    fileprivate func write(_ contents: ItemContents) async throws(SecretServiceError) {
        if let attributes = contents.attributes { try await setAttributes(attributes) }
        if let label = contents.label { try await setLabel(label) }
        if let secret = contents.secret { try await setSecret(secret.secret, prompting: .never) }
    }
}

extension SharedSecret {
    /// Reads the secret of an item, which is open; shows no dialog.
    fileprivate convenience init(of item: SecretItem) async throws(SecretServiceError) {
        self.init(try await item.secret(prompting: .never))
    }
}
