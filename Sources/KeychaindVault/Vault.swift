package import KeychaindModel
import Logging

/// A user's keychains: a folder with one file per collection.
///
/// The vault and its collections are plain objects that belong to the isolation that created them. Blocking work runs
/// on threads of their own; asynchronous methods resume in the caller's isolation.
package final class Vault {
    private let configuration: VaultConfiguration
    private let folder: Folder
    private var opened: Opened?
    private let observer = ChangeObserver()
    let exclusiveWork = ExclusiveWork()
    /// The keys of the previous process that have not been tried yet.
    var receivedKeys: [KeyHandover.Entry] = []

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

    /// Called when a key slot has unlocked `login`, with the time when that began, before anybody else hears of it.
    ///
    /// Not for handed-over keys. See ``Collection/beginUnlockWithLogin(begun:)``.
    package var onLoginUnlock: ((LockMoment) -> Void)? {
        get { observer.onLoginUnlock }
        set { observer.onLoginUnlock = newValue }
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
    /// - Parameter whenCounting: called once failed attempts can be recorded, with whether there is a `login`.
    package func open(whenCounting: ((_ hasLogin: Bool) -> Void)? = nil) async throws(VaultError) {
        guard opened == nil else { return }
        let audit = AuditTrail()
        let folderWorker = try Worker(
            "vault folder",
            VaultFolder(folder, configuration: configuration, audit: audit)
        ) { folder in
            folder.rest()
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
            copyWorker: try Worker("copies", ())
        )
        context.rules.content = contents.rules
        context.state.obstacle = contents.stateObstacle
        context.state.loss = contents.state.loss
        opened = Opened(
            context: context,
            collections: [],
            aliases: Self.aliases(of: contents.state),
            lockouts: contents.state.lockouts
        )
        whenCounting?(contents.names.contains(.login))
        do throws(VaultError) {
            collections = try await openCollections(listedIn: contents, in: context)
        } catch {
            opened = nil
            throw error
        }
        context.login.collection = collection(named: .login)
        rememberCollections(collections, in: context)
    }

    /// Records the collections that are there.
    private func rememberCollections(_ collections: [Collection], in context: VaultContext) {
        var known: [CollectionName: KnownCollection] = [:]
        for collection in collections { known[collection.name] = collection.known }
        context.folderWorker.post { [known] folder in folder.remember(known) }
    }

    package var limits: VaultLimits { configuration.limits }

    /// The collections, sorted by name; `login` and `session` always exist.
    package internal(set) var collections: [Collection] {
        get { opened?.collections ?? [] }
        set { opened?.collections = newValue }
    }

    package func collection(named name: CollectionName) -> Collection? {
        collections.first { collection in collection.name == name }
    }

    /// The stored aliases (#60).
    package internal(set) var aliases: [String: CollectionName] {
        get { opened?.aliases ?? [:] }
        set { opened?.aliases = newValue }
    }

    var lockouts: StoredLockouts {
        get { opened?.lockouts ?? .none }
        set { opened?.lockouts = newValue }
    }

    /// Locks all collections, finishes pending writes, wipes the keys and releases the folder.
    package func close() async {
        guard let opened else { return }
        self.opened = nil
        receivedKeys = []
        for collection in opened.collections { collection.lock() }
        await opened.context.copyWorker.stop()
        for collection in opened.collections { await collection.close() }
        await opened.context.derivations.stop()
        opened.context.folderWorker.post { folder in folder.close() }
        await opened.context.folderWorker.stop()
    }

    /// Whether it has been opened, and not been closed.
    package var isOpen: Bool { opened != nil }

    var context: VaultContext? { opened?.context }
}
