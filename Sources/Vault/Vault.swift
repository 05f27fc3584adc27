package import Gcrypt
package import KeychainModel
import Logging

/// The keychains of a user: a folder with one file a collection.
///
/// The vault and its collections are plain objects that belong to the isolation that made them. Threads of their own do what
/// blocks; asynchronous methods resume where they were called.
package final class Vault {
    /// The alias of the collection that programs without special needs store in (#61).
    package static let defaultAlias = "default"

    private let configuration: VaultConfiguration
    private let folder: Folder
    private var opened: Opened?
    private let observer = ChangeObserver()

    /// Called when a collection in a file, or a key slot of it, was changed and the disk has it.
    package var onChange: ((CollectionName) -> Void)? {
        get { observer.onChange }
        set { observer.onChange = newValue }
    }

    /// What an open vault has.
    private struct Opened {
        let context: VaultContext
        var collections: [Collection]
        var aliases: [String: CollectionName]
        var lockouts: StoredLockouts
    }

    /// Creates a vault that is not open yet.
    package init(_ configuration: VaultConfiguration) {
        self.configuration = configuration
        folder = Folder(configuration.directory)
    }

    /// Takes the folder, which is made when it is missing, and lists its collections, locked.
    ///
    /// A collection that cannot be read is listed as `unreadable` and is no error. Throws `inUse` at once when another process has
    /// the folder, after which it may be called again; and what the disk may.
    package func open() async throws(VaultError) {
        guard opened == nil else { return }
        let audit = AuditTrail()
        let clerk = try Worker(
            "vault folder",
            VaultFolder(folder, configuration: configuration, audit: audit)
        ) { folder in
            folder.writeAudit()
        }
        let contents = try await clerk.perform { (folder) throws(VaultError) in try folder.open() }
        let context = VaultContext(
            configuration: configuration,
            folder: folder,
            indexKey: contents.indexKey,
            clerk: clerk,
            audit: audit,
            observer: observer,
            deriver: try Worker("key derivation", ()),
            keeper: try Worker("generations", ())
        )
        var opened = Opened(
            context: context,
            collections: [],
            aliases: contents.aliases,
            lockouts: contents.lockouts
        )
        if contents.names.count > configuration.limits.collections {
            configuration.logger.error("only \(configuration.limits.collections) collections are listed")
        }
        for name in contents.names.prefix(configuration.limits.collections) {
            opened.collections.append(await Self.collection(name, in: context))
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
    }

    /// The key of the blind index; nil while the vault is not open.
    var indexKey: BlindIndexKey? { opened?.context.indexKey }

    /// How much it takes.
    package var limits: VaultLimits { configuration.limits }

    /// The collections, in the order of their names; `login` and `session` are always among them.
    package var collections: [Collection] { opened?.collections ?? [] }

    /// The collection of a name; nil when there is none.
    package func collection(named name: CollectionName) -> Collection? {
        collections.first { collection in collection.name == name }
    }

    /// The aliases that were set, by alias (#60).
    package var aliases: [String: CollectionName] { opened?.aliases ?? [:] }

    /// The collection that an alias stands for: `login` and `session` for themselves, `default` for `login` unless it was set.
    package func collection(forAlias alias: String) -> Collection? {
        if let name = aliases[alias], let collection = collection(named: name) { return collection }
        switch alias {
        case Self.defaultAlias, CollectionName.login.encoded: return collection(named: .login)
        case CollectionName.session.encoded: return collection(named: .session)
        default: return nil
        }
    }

    /// Lets an alias stand for a collection; nil takes the alias away.
    ///
    /// When this returns, the disk has it. Throws `notSupported` for the aliases `login` and `session`, `limitExceeded`, and what the disk
    /// may.
    package func setAlias(_ alias: String, to collection: Collection?) async throws(VaultError) {
        guard let opened else { throw Collection.closed }
        guard alias != CollectionName.login.encoded, alias != CollectionName.session.encoded else {
            throw VaultError(.notSupported, reason: "the alias \(alias) is built in")
        }
        guard !alias.isEmpty, alias.utf8.count <= CollectionName.maximumLength,
            collection == nil || opened.aliases[alias] != nil || opened.aliases.count < StateFile.maximumAliases
        else { throw VaultError(.limitExceeded, reason: "the alias is empty or too long, or there are too many") }
        guard collection?.isDeleted != true else { throw Collection.deleted }
        let name = collection?.name
        try await opened.context.clerk.perform { (folder) throws(VaultError) in try folder.setAlias(alias, to: name) }
        // It may have been deleted while the disk was at work, and its aliases with it.
        self.opened?.aliases[alias] = collection?.isDeleted == true ? nil : name
    }

    /// What is known of failed authentications.
    var lockouts: StoredLockouts {
        get { opened?.lockouts ?? .none }
        set { opened?.lockouts = newValue }
    }

    /// Makes a collection, unlocked, whose name is made from the label and is no other's.
    ///
    /// When this returns, the disk has it. Throws `emptyPassword`, `limitExceeded`, and what the disk may; then there is no trace of it.
    package func createCollection(
        label: String,
        password: consuming SecureBytes
    ) async throws(VaultError) -> Collection {
        guard let opened else { throw Collection.closed }
        guard label.utf8.count <= configuration.limits.labelBytes else {
            throw VaultError(.limitExceeded, reason: "a label has at most \(configuration.limits.labelBytes) bytes")
        }
        guard opened.collections.count < configuration.limits.collections else {
            throw VaultError(.limitExceeded, reason: "there are too many collections")
        }
        let name = unusedName(for: label)
        let collection = Collection(name, label: label, phase: .vacant, storage: .none, context: opened.context)
        // It takes its name at once, so that a second call with the same label takes another.
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

    /// Removes a collection, its file and its aliases (#90).
    ///
    /// Past generations stay, but those of a `login` that has items which go with the passcode.
    ///
    /// `login` is listed again afterwards, vacant. When this returns, the disk has it. Throws `notSupported` for what has no file,
    /// `unreadable` for what cannot be read – its file is for a person to remove –, and what the disk may.
    package func delete(_ collection: Collection) async throws(VaultError) {
        guard let opened else { throw Collection.closed }
        guard !collection.isDeleted else { throw Collection.deleted }
        if case .unreadable(let reason) = collection.state { throw VaultError(.unreadable, reason: reason) }
        if collection.name == .login { try await removeItemsBoundToPasscode() }
        try await collection.removeFile()
        removeLockouts(of: collection)
        let name = collection.name
        self.opened?.collections.removeAll { other in other === collection }
        if name == .login { insert(Self.vacantLogin(in: opened.context)) }
        let aliases = self.aliases.filter { alias in alias.value != name }
        self.opened?.aliases = aliases
        do throws(VaultError) {
            try await opened.context.clerk.perform { (folder) throws(VaultError) in try folder.removeAliases(of: name) }
        } catch {
            // The collection has gone, and an alias on the disk that leads nowhere counts for none.
            configuration.logger.warning("\(name): its aliases stay on the disk: \(error)")
        }
    }

    /// Locks every collection, writes what is under way, wipes the keys and gives the folder back.
    package func close() async {
        guard let opened else { return }
        self.opened = nil
        for collection in opened.collections { collection.lock() }
        // A copy under way reads a collection's file, which would then be closed with its journal beside it.
        await opened.context.keeper.stop()
        for collection in opened.collections { await collection.close() }
        await opened.context.deriver.stop()
        opened.context.clerk.post { folder in folder.close() }
        await opened.context.clerk.stop()
    }

    /// What the collections share; nil when the vault is not open.
    var context: VaultContext? { opened?.context }

    private func insert(_ collection: Collection) {
        if collection.name == .login { opened?.context.login.collection = collection }
        let collections = (self.collections + [collection]).sorted { first, second in first.name < second.name }
        opened?.collections = collections
    }

    /// Lists a collection in the place of one that was retired; nil for none.
    func replace(_ retired: Collection?, by collection: Collection) {
        opened?.collections.removeAll { other in other === retired }
        if collection.state == .vacant, collection.name != .login { return }
        insert(collection)
    }

    /// A collection of that name without a file.
    static func vacant(_ name: CollectionName, in context: VaultContext) -> Collection {
        name == .login
            ? vacantLogin(in: context)
            : Collection(name, label: name.encoded, phase: .vacant, storage: .none, context: context)
    }

    private func unusedName(for label: String) -> CollectionName {
        let name = CollectionName(label: label)
        var candidate = name
        var number = 2
        while collection(named: candidate) != nil || folder.contains(candidate.encoded + CollectionFormat.suffix) {
            candidate = name.numbered(number)
            number += 1
        }
        return candidate
    }

    private static func vacantLogin(in context: VaultContext) -> Collection {
        Collection(.login, label: "Login", phase: .vacant, storage: .none, context: context)
    }

    /// Has one of several files with the same identifier count: `login`, else the one with the latest change.
    ///
    /// Two at once would each have the other's ledger of protected items.
    private static func closeCopies(among collections: [Collection]) async {
        var originals: [[UInt8]: Collection] = [:]
        for collection in collections {
            guard let identifier = collection.header?.identifier else { continue }
            guard let other = originals[identifier] else {
                originals[identifier] = collection
                continue
            }
            let isOriginal =
                other.name != .login
                && (collection.name == .login || collection.table.lastRevision > other.table.lastRevision)
            if isOriginal { originals[identifier] = collection }
            await (isOriginal ? other : collection).close(asCopyOf: isOriginal ? collection.name : other.name)
        }
    }

    /// Opens the file of a collection, which is listed as unreadable when that fails.
    static func collection(_ name: CollectionName, in context: VaultContext) async -> Collection {
        let collection = Collection(name, label: name.encoded, phase: .locked, storage: .none, context: context)
        await collection.openFile()
        return collection
    }
}
