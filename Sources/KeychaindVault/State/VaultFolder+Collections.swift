import KeychaindModel
import Logging

extension VaultFolder {
    /// The names to list, the important ones first, with those that were there before.
    ///
    /// A limit or a flood of files must not hide `login`, the default or a collection that was listed before.
    func listing(
        _ present: [CollectionName],
        known recorded: [CollectionName: KnownCollection]?,
        aliases: [String: CollectionName]
    ) throws(VaultError) -> (names: [CollectionName], known: [CollectionName: KnownCollection]) {
        var known = recorded ?? [:]
        // Past files remain of a `login` whose state is lost, too. Those of others may be of deleted collections.
        if recorded == nil, try !PastFiles(of: .login, in: folder).existing().isEmpty {
            known[.login] = KnownCollection()
        }
        let names = Set(present).union(known.keys).sorted()
        let ranked = names.map { name in
            let isFirst = name == .login || name == aliases[Vault.defaultAlias]
            return (rank: isFirst ? 0 : known[name] != nil ? 1 : 2, name: name)
        }
        return (ranked.sorted { first, second in first < second }.map(\.name), known)
    }

    /// Records collections that have a file; a failure is only logged.
    func remember(_ collections: [CollectionName: KnownCollection]) {
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in
                let known = state.knownCollections
                var new: [CollectionName: KnownCollection] = [:]
                for (name, collection) in collections {
                    let merged = collection.merged(with: known?[name])
                    if merged != known?[name] { new[name] = merged }
                }
                if known == nil || !new.isEmpty { try state.remember(new) }
            }
        } catch {
            logger.warning("A missing keychain may go unnoticed, because the list is not stored: \(error)")
        }
    }

    /// Forgets a deleted collection and removes what is left of it; after a failure the next start tries again.
    func finish(_ deletion: FileDeletion) {
        guard folder.isWritable else { return }
        do throws(VaultError) {
            try deletion.finish(configuration) { () throws(VaultError) in
                try changeState { (state) throws(VaultError) in try state.forget(deletion.name) }
            }
        } catch {
            logger.warning("\(deletion.name): something of the deleted keychain is left until the next start: \(error)")
        }
    }

    /// Empties a file whose writing was stopped, if it is still there.
    func empty(_ file: String) {
        try? folder.truncate(file)
    }

    /// Forgets a missing collection; throws `busy` if its file is there again.
    func forgetMissing(_ name: CollectionName) throws(VaultError) {
        try folder.requireFree(name.fileName)
        try changeState { (state) throws(VaultError) in try state.forget(name) }
    }
}
