import KeychaindModel
import SecretServiceClient

extension SecretClient {
    /// Changes all matching items, or none.
    ///
    /// - Returns: the number of items.
    func update(
        _ query: ItemQuery,
        _ search: ItemSearch?,
        with changes: ItemQuery
    ) async throws(SecretServiceError) -> Int {
        let secret = try changes.newSecret
        let action: ProviderContext.Action = changes.changesProtection ? .protect : .change
        return try await ItemUnlocking.during(query, to: action, on: self) { (unlocking) throws(SecretServiceError) in
            let matches = try await matches(search, query.reference, limit: .max, unlockedBy: unlocking)
            let targets = matches.map { match in
                UpdateTarget(match: match, itemClass: query.itemClass(of: match), changes: changes, secret: secret)
            }
            return try await update(targets, unlocking)
        }
    }

    /// Changes items, or none: everything that can be checked before is.
    ///
    /// - Returns: the number of items.
    func update(_ targets: [UpdateTarget], _ unlocking: ItemUnlocking) async throws(SecretServiceError) -> Int {
        let open = Set(try await unlocking.open(targets.map(\.match), allAreNeeded: true).map(\.item))
        var updates: [ItemUpdate] = []
        for target in targets where open.contains(target.match.item) {
            do throws(SecretServiceError) {
                updates.append(try await checked(target, unlocking))
            } catch  where error.code == .noSuchObject {
                // Deleted meanwhile.
                continue
            }
        }
        try await checkPrimaryKeys(of: updates)
        var writer = UpdateWriter(unlocking)
        return try await writer.write(updates)
    }

    /// Checks that the changes leave a key or certificate itself as it is, except for a key that is any bytes.
    private func check(
        _ changes: ItemQuery,
        of item: SecretItem,
        _ itemClass: ItemClass?
    ) async throws(SecretServiceError) {
        guard itemClass == .key || itemClass == .certificate else { return }
        if KeychainAttribute.computed.isDisjoint(with: changes.values.keys) {
            guard let data = changes.data else { return }
            if itemClass == .key, let record = try await record(of: item),
                KeychainItem(record.properties).isKey(ofAnyBytes: data)
            {
                return
            }
        }
        throw SecretServiceError(.invalidArguments, "a key or certificate cannot be replaced; add another item")
    }

    /// The changes of an open item; throws if they are not allowed.
    private func checked(
        _ target: UpdateTarget,
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> ItemUpdate {
        let (match, changes) = (target.match, target.changes)
        try await check(changes, of: match.item, target.itemClass)
        if changes.values[.accessControl] != nil, try await !enforcesAccessControl() {
            throw SecretClient.cannotProtect
        }
        let update = ItemUpdate(item: match.item, new: ItemContents(secret: target.secret))
        guard changes.changesAttributes else { return update }
        // The attributes of a locked item may have been unknown before.
        let known = match.isLocked ? nil : match.record?.properties
        let properties =
            if let known { known } else {
                try await unlocking.using(match.item) { () throws(SecretServiceError) in
                    try await match.item.properties()
                }
            }
        return try update.changing(properties, changes)
    }

    /// Throws ``SecretServiceError/Code/alreadyExists`` if two of the items would have the same primary key, or if one
    /// would have that of another item.
    private func checkPrimaryKeys(of updates: [ItemUpdate]) async throws(SecretServiceError) {
        var keys: Set<UniqueAttributes> = []
        for update in updates {
            guard let key = update.key?.values else { continue }
            guard keys.insert(key).inserted, try await !isTaken(key, except: update.item) else {
                throw SecretServiceError(.alreadyExists, "an item with the same primary key exists")
            }
        }
    }
}

extension ItemUpdate {
    /// The update with changes of label and attributes; throws if an item cannot have them.
    fileprivate func changing(
        _ properties: SecretItem.Properties,
        _ changes: ItemQuery
    ) throws(SecretServiceError) -> ItemUpdate {
        let before = Attributes(properties.attributes)
        var changed = KeychainItem(before, label: properties.label)
        do throws(StatusError) {
            try changed.apply(changes)
        } catch {
            throw SecretServiceError(.invalidArguments, error.reason)
        }
        // Compared by bytes, as providers do: another Unicode form is another value.
        let after = changed.attributes
        let (label, names) = (changed.storedLabel, changed.uniqueNames)
        var update = self
        if after != before {
            (update.new.attributes, update.old.attributes) = (after.dictionary, properties.attributes)
        }
        if !label.utf8.elementsEqual(properties.label.utf8) {
            (update.new.label, update.old.label) = (label, properties.label)
        }
        if before.only(names) != after.only(names) {
            update.key = (UniqueAttributes(changed, changes.programGroup), names)
        }
        return update
    }
}

extension ItemQuery {
    /// Whether the changes are not of the secret alone.
    fileprivate var changesAttributes: Bool { !values.isEmpty || synchronizable != nil || label != nil }

    /// The secret of the changes; throws if it is too large for any provider.
    var newSecret: SharedSecret? {
        get throws(SecretServiceError) {
            guard let data else { return nil }
            return SharedSecret(try Secret(data))
        }
    }

    /// Whether the changes affect the protection of an item.
    var changesProtection: Bool {
        isUnconstrained || synchronizable != nil || values[.accessControl] != nil || values[.accessible] != nil
            || values[.accessGroup] != nil
    }
}

extension KeychainItem {
    /// Whether it is a key that may be any bytes, these among them.
    fileprivate func isKey(ofAnyBytes bytes: [UInt8]) -> Bool {
        guard itemClass == .key, !isOnlyUsed else { return false }
        return switch self[.keyClass] {
        case nil: true
        // Its size is part of the primary key.
        case .text(KeyClass.symmetric.code): self[.keySize] == .number(Int64(bytes.count * 8))
        default: false
        }
    }

    fileprivate mutating func apply(_ changes: ItemQuery) throws(StatusError) {
        if changes.isUnconstrained { try setChecked(.accessControl, nil) }
        for (attribute, value) in changes.values where !implies(value, of: attribute, changes) {
            try setChecked(attribute, attribute.isOmitted(in: itemClass, value) ? nil : value)
        }
        if let synchronizable = changes.synchronizable {
            try setChecked(.synchronizable, .boolean(synchronizable == .yes))
        }
        if changes.changesProtection { try checkSynchronizable() }
        if let label = changes.label { (self.label, isLabelData) = (label, changes.isLabelData) }
    }

    /// Whether an item without an attribute already has the effect of a value, so that it need not be stored.
    ///
    /// Programs write results back, which have all defaults.
    fileprivate func implies(_ value: KeychainValue, of attribute: KeychainAttribute, _ changes: ItemQuery) -> Bool {
        guard self[attribute] == nil else { return false }
        return attribute == .accessGroup ? value == .text(changes.programGroup) : value == effective(attribute)
    }
}
