import KeychaindModel
import Logging

extension VaultFolder {
    /// The names to list, the important ones first, with the labels of those that were there before.
    ///
    /// A limit or a flood of files must not hide `login`, the default or a collection that was listed before.
    func listing(
        _ present: [CollectionName],
        known: [CollectionName: String]?,
        aliases: [String: CollectionName]
    ) -> (names: [CollectionName], labels: [CollectionName: String]) {
        var labels = known ?? [:]
        // Generations remain of a `login` whose state is lost, too. Those of others may be of deleted collections.
        if known == nil, hasGenerationOfLogin { labels[.login] = labels[.login] ?? CollectionName.login.encoded }
        let names = Set(present).union(labels.keys).sorted()
        let ranked = names.map { name in
            let isFirst = name == .login || name == aliases[Vault.defaultAlias]
            return (rank: isFirst ? 0 : labels[name] != nil ? 1 : 2, name: name)
        }
        return (ranked.sorted { first, second in first < second }.map(\.name), labels)
    }

    private var hasGenerationOfLogin: Bool {
        guard folder.contains(Generations.folderName) else { return false }
        let generations = try? Generations(of: .login, in: folder, keeping: 1).existing()
        return generations?.isEmpty == false
    }

    /// Records collections that have a file.
    ///
    /// The label is nil if it is unknown. A failure is only logged.
    func remember(_ labels: [CollectionName: String?]) {
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in
                let known = try state.knownCollections()
                var new: [CollectionName: String] = [:]
                for (name, label) in labels {
                    let old = known?[name]
                    if old == nil || label != nil && label != old { new[name] = label ?? name.encoded }
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
            try deletion.finish { () throws(VaultError) in
                try changeState { (state) throws(VaultError) in try state.forget(deletion.name) }
            }
        } catch {
            logger.warning("\(deletion.name): something of the deleted keychain is left until the next start: \(error)")
        }
    }

    /// Forgets a missing collection; throws `busy` if its file is there again.
    func forgetMissing(_ name: CollectionName) throws(VaultError) {
        try folder.requireFree(name.fileName)
        try changeState { (state) throws(VaultError) in try state.forget(name) }
        // A journal without its file.
        try folder.removeDatabase(name.fileName)
    }
}
