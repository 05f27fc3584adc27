import KeychaindGcrypt

/// The content of the rules' file, as it was opened or written last.
final class RulesReference {
    var content = RulesFile.Content.none
}

/// The rules of the user, sealed with a key of `login`.
extension Vault {
    /// The state of the stored rules.
    package enum StoredRules: Sendable {
        /// There are none.
        case none
        /// They need the first unlock of `login` since the start.
        case sealed
        case opened([UInt8])
        case unreadable(reason: String)
    }

    /// Opens the stored rules.
    package func storedRules() -> StoredRules {
        guard let context else { return .unreadable(reason: "the keychains are closed") }
        switch context.rules.content {
        case .none: return .none
        case .unreadable(let reason): return .unreadable(reason: reason)
        case .sealed(let sealed, let identifier):
            guard let login = context.login.collection, let header = login.header else {
                // Without its header, nothing says which `login` sealed them.
                return .unreadable(reason: "the rules belong to a login keychain that is not there")
            }
            guard header.identifier == identifier else {
                return .unreadable(reason: "the rules belong to another login keychain")
            }
            guard let keys = login.keys else { return .sealed }
            let place = AssociatedData(collection: keys.collection, column: .rules)
            guard let plaintext = try? keys.open(sealed, for: place) else {
                return .unreadable(reason: "the rules were damaged or changed by another program")
            }
            return .opened(plaintext)
        }
    }

    /// Whether `login` has been unlocked since the start, so that rules can be opened and stored.
    package var hasRulesKey: Bool { context?.login.collection?.keys != nil }

    /// Stores the rules durably.
    ///
    /// Throws `locked` before the first unlock of `login`, `unreadable` instead of overwriting what cannot be read, and
    /// disk errors.
    package func storeRules(_ plaintext: [UInt8]) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        guard let keys = context.login.collection?.keys else {
            throw VaultError(.locked, reason: "the login keychain must be unlocked first")
        }
        if case .unreadable(let reason) = storedRules() { throw VaultError(.unreadable, reason: reason) }
        let sealed = try cipher { () throws(GcryptError) in
            try keys.seal(plaintext, for: AssociatedData(collection: keys.collection, column: .rules))
        }
        try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.writeRules(sealed, collection: keys.collection)
        }
        context.rules.content = .sealed(sealed, collection: keys.collection)
    }

    /// Keeps rules that cannot be read in another file, and starts without any.
    package func setRulesAside() async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.setRulesAside() }
        context.rules.content = .none
    }
}
