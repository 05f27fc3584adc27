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

    static let cannotProtect = SecretServiceError(
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
        _ context: ProviderContext?,
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
}

extension KeychainItem {
    /// The device that holds the key.
    var token: KeyTokenName? {
        guard case .text(let code)? = self[.token] else { return nil }
        return KeyTokenName(code: code)
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
