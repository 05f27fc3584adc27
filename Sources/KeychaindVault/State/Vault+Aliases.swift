import KeychaindModel

/// The names by which programs find collections.
extension Vault {
    /// The alias of the collection that programs store in by default (#61).
    package static let defaultAlias = "default"

    /// Returns the collection of an alias: `login` and `session` name themselves, `default` is `login` unless it is
    /// set.
    package func collection(forAlias alias: String) -> Collection? {
        if let name = aliases[alias], let collection = collection(named: name) { return collection }
        switch alias {
        case Self.defaultAlias, CollectionName.login.encoded: return collection(named: .login)
        case CollectionName.session.encoded: return collection(named: .session)
        default: return nil
        }
    }

    /// Sets an alias durably; nil removes it.
    ///
    /// Throws `notSupported` for the aliases `login` and `session`, `limitExceeded`, and disk errors.
    package func setAlias(_ alias: String, to collection: Collection?) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        guard alias != CollectionName.login.encoded, alias != CollectionName.session.encoded else {
            throw VaultError(.notSupported, reason: "the alias \(alias) is built in")
        }
        guard !alias.isEmpty, alias.utf8.count <= CollectionName.maximumLength else {
            throw VaultError(.limitExceeded, reason: "the alias is empty or too long")
        }
        guard collection?.isDeleted != true else { throw VaultError.collectionDeleted }
        let name = collection?.name
        try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.setAlias(alias, to: name)
        }
        // The collection, and its aliases with it, may have been deleted during the write.
        aliases[alias] = collection?.isDeleted == true ? nil : name
    }

    /// Takes aliases up from `state`, once it can be read.
    func adopt(_ state: StateFile.Contents) {
        aliases.merge(Self.aliases(of: state)) { present, _ in present }
        lockouts.add(state.lockouts)
        context?.state.loss = state.loss
    }

    static func aliases(of state: StateFile.Contents) -> [String: CollectionName] {
        state.aliases.compactMapValues { encoded in CollectionName(encoded: encoded) }
    }
}
