import KeychaindModel
import Logging

/// Opening the collections of the folder.
extension Vault {
    /// Opens the files that the folder has, and adds `login` and `session`; sorted by name.
    func openCollections(
        listedIn contents: VaultFolder.Contents,
        in context: VaultContext
    ) async throws(VaultError) -> [Collection] {
        if contents.names.count > limits.collections {
            context.configuration.logger.error("only \(limits.collections) collections are listed")
        }
        var collections: [Collection] = []
        for name in contents.names.prefix(limits.collections) {
            collections.append(await Self.collection(name, known: contents.known[name], in: context))
        }
        await Self.closeCopies(among: collections)
        if !contents.names.contains(.login) { collections.append(Self.vacantLogin(in: context)) }
        collections.append(try Self.session(in: context))
        return collections.sorted { first, second in first.name < second.name }
    }

    private static func session(in context: VaultContext) throws(VaultError) -> Collection {
        let store = try EphemeralStore(limit: context.configuration.limits.memoryBytes)
        return Collection(
            .session,
            label: "Session",
            phase: .unlocked(store.secretsKey),
            storage: .memory(store),
            context: context
        )
    }

    /// Opens the file of a collection.
    ///
    /// - Parameter known: what was recorded of the collection, whose file may be missing, unreadable, or another one.
    static func collection(
        _ name: CollectionName,
        known: KnownCollection? = nil,
        in context: VaultContext
    ) async -> Collection {
        let collection = Collection(
            name,
            label: known?.label ?? name.encoded,
            phase: .locked,
            storage: .none,
            context: context
        )
        await collection.openFile(recorded: known)
        return collection
    }

    static func vacant(_ name: CollectionName, in context: VaultContext) -> Collection {
        name == .login
            ? vacantLogin(in: context)
            : Collection(name, label: name.encoded, phase: .vacant, storage: .none, context: context)
    }

    private static func vacantLogin(in context: VaultContext) -> Collection {
        Collection(.login, label: "Login", phase: .vacant, storage: .none, context: context)
    }

    /// Closes all but one of the files with the same identifier.
    ///
    /// The one that had it before wins, then `login`, else the latest change.
    ///
    /// Two open copies would share one ledger of protected items.
    private static func closeCopies(among collections: [Collection]) async {
        var originals: [[UInt8]: Collection] = [:]
        for collection in collections {
            guard let identifier = collection.header?.identifier else { continue }
            guard let other = originals[identifier] else {
                originals[identifier] = collection
                continue
            }
            let isOriginal = collection.copyRank > other.copyRank
            if isOriginal { originals[identifier] = collection }
            await (isOriginal ? other : collection).close(asCopyOf: isOriginal ? collection.name : other.name)
        }
    }
}

extension Collection {
    /// The order of files with the same identifier.
    fileprivate var copyRank: (Int, Int, UInt64) {
        (recorded?.identifier == header?.identifier ? 1 : 0, name == .login ? 1 : 0, table.lastRevision)
    }
}
