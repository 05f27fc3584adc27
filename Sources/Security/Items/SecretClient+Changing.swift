import KeychaindModel
import SecretServiceClient

extension SecretClient {
    /// Stores an item.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if one with the same primary key exists.
    func add(_ item: KeychainItem, _ query: ItemQuery) async throws(SecretServiceError) -> FoundItem {
        if item.needsAuthentication, try await !enforcesAccessControl() {
            throw SecretClient.cannotProtect
        }
        let key = UniqueAttributes(item, query.programGroup)
        let isThere = try await ItemUnlocking.during(query, on: self) { (unlocking) throws(SecretServiceError) in
            try await isTaken(key, unlockedBy: unlocking)
        }
        guard !isThere else {
            throw SecretServiceError(.alreadyExists, "an item with the same primary key exists")
        }
        let collection = try await collectionToAdd(item, query.prompting)
        let secret: Secret
        if item.isOnlyUsed {
            guard try await collection.usesKeys() else { throw SecretClient.cannotUseKeys }
            secret = try Secret(query.data ?? [], contentType: ReservedContentType.privateKey.rawValue)
        } else {
            secret = try Secret(query.data ?? [])
        }
        // Taken for an item that needs an application password, which a person types otherwise.
        let context =
            query.context?.hasCredential == true ? try await query.context?.context(on: self, reason: "") : nil
        let made = try await create(item, secret, in: collection, context, query.prompting)
        var found = FoundItem(reference: PersistentReference(path: made.path))
        found.authentication = query.authentication
        found.data = query.data ?? []
        found.itemClass = item.itemClass
        found.item = item
        // The item is stored even if its attributes cannot be read.
        if query.returns.contains(.attributes), let record = try? await record(of: made) {
            found.times = ItemTimes(record)
            found.item = KeychainItem(record.properties)
        }
        return found
    }

    private static let cannotProtect = SecretServiceError(
        .notSupported,
        "the provider does not enforce access control, which needs keychaind"
    )

    private static let cannotUseKeys = SecretServiceError(
        .notSupported,
        "the provider cannot keep a key from programs, which needs keychaind"
    )

    /// Generates a private key in the provider; nil if it cannot, and the key may be generated here.
    func generateKey(
        _ item: KeychainItem,
        _ type: KeyType,
        bits: Int,
        _ query: ItemQuery
    ) async throws(SecretServiceError) -> FoundItem? {
        let collection = try await collectionToAdd(item, query.prompting)
        let key = SecretCollection.NewKey(
            label: item.storedLabel,
            attributes: item.attributes.dictionary,
            unique: item.uniqueNames,
            type: type.rawValue,
            bits: bits,
            isExtractable: item[.isExtractable] == .boolean(true),
            token: item.token?.rawValue
        )
        guard let made = try await collection.generateKey(key, prompting: query.prompting)?.item else {
            guard !item.isOnlyUsed else { throw SecretClient.cannotUseKeys }
            return nil
        }
        let record = try await recordOfNew(made)
        var found = FoundItem(reference: PersistentReference(path: made.path))
        found.itemClass = .key
        found.item = KeychainItem(record.properties)
        found.times = ItemTimes(record)
        found.authentication = query.authentication
        return found
    }

    /// The record of a key that was just made, which is deleted if it cannot be read: the program gets no key.
    private func recordOfNew(_ key: SecretItem) async throws(SecretServiceError) -> SecretItemRecord {
        do throws(SecretServiceError) {
            guard let record = try await record(of: key) else {
                throw SecretServiceError(.noSuchObject, "the new key was deleted")
            }
            return record
        } catch {
            try? await key.delete(prompting: .never)
            throw error
        }
    }

    private func create(
        _ item: KeychainItem,
        _ secret: borrowing Secret,
        in collection: SecretCollection,
        _ context: AuthenticationContext?,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretItem {
        let (label, attributes) = (item.storedLabel, item.attributes)
        if let made = try await collection.createUniqueItem(
            label: label,
            attributes: attributes.dictionary,
            unique: item.uniqueNames,
            secret: secret,
            context: context,
            prompting: prompting
        ) {
            return made
        }
        // Other providers cannot check and add in one step: two concurrent programs may both succeed.
        return try await collection.createItem(
            label: label,
            attributes: attributes.dictionary,
            secret: secret,
            prompting: prompting
        )
    }

    private func collectionToAdd(
        _ item: KeychainItem,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretCollection {
        // Items that depend on the passcode live in the keychain whose password it is (A19).
        if item.needsAuthentication || item[.accessible] == .text(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue),
            let login = try await storingCollection(alias: "login")
        {
            return login
        }
        if let collection = try await storingCollection(alias: "default") { return collection }
        return try await createCollection(label: "Login", alias: "default", prompting: prompting)
    }

    /// Changes all matching items, or none.
    ///
    /// - Returns: the number of items.
    func update(
        _ query: ItemQuery,
        _ search: ItemSearch?,
        with changes: ItemQuery
    ) async throws(SecretServiceError) -> Int {
        let secret = try changes.newSecret
        let action: AuthenticationContext.Action = changes.changesProtection ? .protect : .change
        return try await ItemUnlocking.during(query, to: action, on: self) { (unlocking) throws(SecretServiceError) in
            let matches = try await matches(search, query.reference, limit: .max)
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

extension KeychainItem {
    /// The device that holds the key.
    var token: KeyTokenName? {
        guard case .text(let code)? = self[.token] else { return nil }
        return KeyTokenName(code: code)
    }

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

    /// Whether it states that it is a key which programs cannot read.
    var isOnlyUsed: Bool {
        itemClass == .key && self[.isExtractable] == .boolean(false) && self[.keyClass] != .text(KeyClass.public.code)
    }

    /// Whether it is a private key that states its public key, so that it can be used without its bytes.
    var isStoredKey: Bool { self[.keyClass] == .text(KeyClass.private.code) && self[.publicKey] != nil }

    /// Whether a person must prove something before the item is used; false if its protection is invalid.
    var needsAuthentication: Bool { (try? Protection(of: attributes))?.policy != nil }
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
