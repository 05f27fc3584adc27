package import KeychaindGcrypt
package import KeychaindModel
import Logging

/// A user's keychains: a folder with one file per collection.
///
/// The vault and its collections are plain objects that belong to the isolation that created them. Blocking work runs
/// on threads of their own; asynchronous methods resume in the caller's isolation.
package final class Vault {
    /// The alias of the collection that programs store in by default (#61).
    package static let defaultAlias = "default"

    private let configuration: VaultConfiguration
    private let folder: Folder
    private var opened: Opened?
    private let observer = ChangeObserver()
    let replacements = ReplacementLocks()

    /// Called after a change of a stored collection or its key slots is on the disk.
    package var onChange: ((CollectionName) -> Void)? {
        get { observer.onChange }
        set { observer.onChange = newValue }
    }

    /// Called when a disk begins to fail or works again, and when a check has found damage or found it gone.
    package var onProblem: ((CollectionName) -> Void)? {
        get { observer.onProblem }
        set { observer.onProblem = newValue }
    }

    /// Called when a change has found another file in place of the collection's; see ``takeUp(_:)``.
    package var onDisplacement: ((Collection) -> Void)? {
        get { observer.onDisplacement }
        set { observer.onDisplacement = newValue }
    }

    /// Decides when changes may begin; nil for at once.
    package var admission: (any ChangeAdmission)? {
        get { observer.admission }
        set { observer.admission = newValue }
    }

    private struct Opened {
        let context: VaultContext
        var collections: [Collection]
        var aliases: [String: CollectionName]
        var lockouts: StoredLockouts
    }

    package init(_ configuration: VaultConfiguration) {
        self.configuration = configuration
        folder = Folder(configuration.directory)
    }

    /// Opens or creates the folder, and lists its collections, locked; unreadable ones as `unreadable`.
    ///
    /// Throws `inUse` when another process has the folder; the caller may try again. Also throws disk errors.
    ///
    /// - Parameter early: an unlock of `login` that begins meanwhile.
    package func open(for early: EarlyUnlock? = nil) async throws(VaultError) {
        guard opened == nil else { return }
        let audit = AuditTrail()
        let folderWorker = try Worker(
            "vault folder",
            VaultFolder(folder, configuration: configuration, audit: audit)
        ) { folder in
            folder.writeAudit()
            folder.keepReserve()
        }
        let contents = try await folderWorker.perform { (folder) throws(VaultError) in try folder.open() }
        let context = VaultContext(
            configuration: configuration,
            folder: folder,
            indexKey: contents.indexKey,
            folderWorker: folderWorker,
            audit: audit,
            observer: observer,
            derivations: try Derivations(),
            copyWorker: try Worker("generations", ())
        )
        context.rules.content = contents.rules
        context.state.obstacle = contents.stateObstacle
        context.state.loss = contents.state.loss
        var opened = Opened(
            context: context,
            collections: [],
            aliases: Self.aliases(of: contents.state),
            lockouts: contents.state.lockouts
        )
        if contents.names.count > configuration.limits.collections {
            configuration.logger.error("only \(configuration.limits.collections) collections are listed")
        }
        for name in contents.names.prefix(configuration.limits.collections) {
            opened.collections.append(
                await Self.collection(
                    name,
                    known: contents.known[name],
                    for: name == .login ? early : nil,
                    in: context
                )
            )
        }
        await Self.closeCopies(among: opened.collections)
        if !contents.names.contains(.login) { opened.collections.append(Self.vacantLogin(in: context)) }
        let store = try EphemeralStore(limit: configuration.limits.memoryBytes)
        let session = Collection(
            .session,
            label: "Session",
            phase: .unlocked(store.secretsKey),
            storage: .memory(store),
            context: context
        )
        opened.collections.append(session)
        opened.collections.sort { first, second in first.name < second.name }
        context.login.collection = opened.collections.first { collection in collection.name == .login }
        self.opened = opened
        rememberCollections(opened.collections, in: context)
    }

    /// Records the collections that are there.
    private func rememberCollections(_ collections: [Collection], in context: VaultContext) {
        var known: [CollectionName: KnownCollection] = [:]
        for collection in collections { known[collection.name] = collection.known }
        context.folderWorker.post { [known] folder in folder.remember(known) }
    }

    package var limits: VaultLimits { configuration.limits }

    /// The collections, sorted by name; `login` and `session` always exist.
    package var collections: [Collection] { opened?.collections ?? [] }

    package func collection(named name: CollectionName) -> Collection? {
        collections.first { collection in collection.name == name }
    }

    /// The stored aliases (#60).
    package var aliases: [String: CollectionName] { opened?.aliases ?? [:] }

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
        guard let opened else { throw VaultError.vaultClosed }
        guard alias != CollectionName.login.encoded, alias != CollectionName.session.encoded else {
            throw VaultError(.notSupported, reason: "the alias \(alias) is built in")
        }
        guard !alias.isEmpty, alias.utf8.count <= CollectionName.maximumLength,
            collection == nil || opened.aliases[alias] != nil || opened.aliases.count < StateFile.maximumAliases
        else { throw VaultError(.limitExceeded, reason: "the alias is empty or too long, or there are too many") }
        guard collection?.isDeleted != true else { throw VaultError.collectionDeleted }
        let name = collection?.name
        try await opened.context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.setAlias(alias, to: name)
        }
        // The collection, and its aliases with it, may have been deleted during the write.
        self.opened?.aliases[alias] = collection?.isDeleted == true ? nil : name
    }

    /// Takes aliases up from `state.db`, once it can be read.
    func adopt(_ state: StateFile.Contents) {
        opened?.aliases.merge(Self.aliases(of: state)) { present, _ in present }
        opened?.lockouts.add(state.lockouts)
        context?.state.loss = state.loss
    }

    private static func aliases(of state: StateFile.Contents) -> [String: CollectionName] {
        state.aliases.compactMapValues { encoded in CollectionName(encoded: encoded) }
    }

    var lockouts: StoredLockouts {
        get { opened?.lockouts ?? .none }
        set { opened?.lockouts = newValue }
    }

    /// Creates a collection durably, unlocked, with an unused name made from the label.
    ///
    /// Throws `emptyPassword`, `limitExceeded`, and disk errors; then nothing is left of it.
    package func createCollection(
        label: String,
        password: consuming SecureBytes
    ) async throws(VaultError) -> Collection {
        guard let opened else { throw VaultError.vaultClosed }
        try limits.check(label: label)
        guard opened.collections.count < configuration.limits.collections else {
            throw VaultError(.limitExceeded, reason: "there are too many collections")
        }
        let name = try unusedName(for: label)
        let collection = Collection(name, label: label, phase: .vacant, storage: .none, context: opened.context)
        // Reserves the name, so that a concurrent call with the same label gets another.
        insert(collection)
        do throws(VaultError) {
            try await collection.unlock(with: password)
        } catch {
            if collection.state == .vacant {
                self.opened?.collections.removeAll { other in other === collection }
            }
            throw error
        }
        return collection
    }

    /// Deletes a collection, its file and its aliases (#90), durably.
    ///
    /// An empty `login` replaces a deleted one. Generations stay, except those of a `login` with items bound to the
    /// passcode. A missing collection is forgotten. Throws `notSupported` without a file, `unreadable` for a file that
    /// a person must remove, and `busy` if the file of a missing collection is there again.
    package func delete(_ collection: Collection) async throws(VaultError) {
        await replacements.lock(collection.name)
        defer { replacements.unlock(collection.name) }
        guard let opened else { throw VaultError.vaultClosed }
        guard !collection.hasEnded else {
            throw collection.isDeleted ? VaultError.collectionDeleted : VaultError.collectionRetired
        }
        let name = collection.name
        if !collection.isMissing, case .unreadable(let reason) = collection.state {
            throw VaultError(.unreadable, reason: reason)
        }
        if collection.condition == .incomplete {
            throw VaultError(.unreadable, reason: "its file is damaged, and is left as it is")
        }
        let takesGenerations =
            name == .login && itemsBoundToPasscode.contains { bound in bound.collection === collection }
        let deletion = FileDeletion(of: name, takesGenerations ? .fileAndGenerations : .file, in: opened.context.folder)
        if collection.isMissing {
            try await opened.context.folderWorker.perform { (folder) throws(VaultError) in
                try folder.forgetMissing(name)
            }
            await collection.forgetFile()
        } else {
            try await collection.removeFile(by: deletion)
        }
        // It is deleted, whatever comes of the rest. A copy that still runs would become a generation after that.
        try? await opened.context.copyWorker.perform { (_) throws(VaultError) in }
        try? await opened.context.folderWorker.perform { (folder) throws(VaultError) in folder.finish(deletion) }
        removeLockouts(of: collection)
        self.opened?.collections.removeAll { other in other === collection }
        if name == .login { insert(Self.vacantLogin(in: opened.context)) }
        let aliases = self.aliases.filter { alias in alias.value != name }
        self.opened?.aliases = aliases
        if name == .login { await removeItemsBoundToPasscode() }
    }

    /// Locks all collections, finishes pending writes, wipes the keys and releases the folder.
    package func close() async {
        guard let opened else { return }
        self.opened = nil
        for collection in opened.collections { collection.lock() }
        // A running copy reads the file; closing the file first would leave its journal behind.
        await opened.context.copyWorker.stop()
        for collection in opened.collections { await collection.close() }
        await opened.context.derivations.stop()
        opened.context.folderWorker.post { folder in folder.close() }
        await opened.context.folderWorker.stop()
    }

    /// Whether it has been opened, and not been closed.
    package var isOpen: Bool { opened != nil }

    var context: VaultContext? { opened?.context }

    private func insert(_ collection: Collection) {
        if collection.name == .login { opened?.context.login.collection = collection }
        let collections = (self.collections + [collection]).sorted { first, second in first.name < second.name }
        opened?.collections = collections
    }

    /// Lists a collection in place of a retired one, if any.
    func replace(_ retired: Collection?, by collection: Collection) {
        opened?.collections.removeAll { other in other === retired }
        if collection.state == .vacant, collection.name != .login { return }
        insert(collection)
        collection.remember()
        // Told only now: before, nobody would have found a collection that waits for the disk.
        if collection.awaitsDisk { context?.observer.onProblem?(collection.name) }
    }

    static func vacant(_ name: CollectionName, in context: VaultContext) -> Collection {
        name == .login
            ? vacantLogin(in: context)
            : Collection(name, label: name.encoded, phase: .vacant, storage: .none, context: context)
    }

    private func unusedName(for label: String) throws(VaultError) -> CollectionName {
        let name = CollectionName(label: label)
        var candidate = name
        var number = 2
        while true {
            if collection(named: candidate) == nil, try !folder.exists(candidate.fileName) { return candidate }
            candidate = name.numbered(number)
            number += 1
        }
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

    /// Opens the file of a collection.
    ///
    /// - Parameters:
    ///   - known: what was recorded of the collection, whose file may be missing, unreadable, or another one.
    ///   - early: an unlock that begins meanwhile.
    static func collection(
        _ name: CollectionName,
        known: KnownCollection? = nil,
        for early: EarlyUnlock? = nil,
        in context: VaultContext
    ) async -> Collection {
        let collection = Collection(
            name,
            label: known?.label ?? name.encoded,
            phase: .locked,
            storage: .none,
            context: context
        )
        await collection.openFile(for: early, recorded: known)
        return collection
    }
}

extension Collection {
    /// The order of files with the same identifier.
    fileprivate var copyRank: (Int, Int, UInt64) {
        (recorded?.identifier == header?.identifier ? 1 : 0, name == .login ? 1 : 0, table.lastRevision)
    }
}
