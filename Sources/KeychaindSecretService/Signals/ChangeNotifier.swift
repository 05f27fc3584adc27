import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// Emits the change signals (#84 – #87, #99 – #101, #112).
///
/// Signals carry real paths, never aliases. Each precedes the reply of its call, so that client caches are then right.
///
/// `Items` is the exception: a list of 100,000 items costs more than creating one. Long lists are sent at most once a
/// second. They cannot be sent as invalidated: libsecret's handler of ItemCreated reads the cached list.
@BusActor
final class ChangeNotifier {
    let connection: Connection
    let access: ItemAccess
    let audience: SignalAudience
    let itemsPerNotice: Int
    var gathering: [CollectionName: Timer] = [:]
    /// Pending lists for clients that do not see all items, each of which has its own.
    var gatheringForClients: [CollectionName: [String: Timer]] = [:]
    /// Signals of items in collections that were locked or unlocked.
    private let lockNotices: ItemNotices
    /// Signals of items that are locked with the screen.
    let sessionNotices: ItemNotices
    /// The last emitted problem of each collection.
    private var problems: [CollectionName: String] = [:]
    /// Called when a collection may have become readable or unreadable.
    var onProblem: (@BusActor () -> Void)?
    static let gatheringTime = Duration.seconds(1)

    init(connection: Connection, access: ItemAccess, audience: SignalAudience, itemsPerNotice: Int) {
        self.connection = connection
        self.access = access
        self.audience = audience
        self.itemsPerNotice = itemsPerNotice
        lockNotices = ItemNotices(on: connection, atOnce: itemsPerNotice)
        sessionNotices = ItemNotices(on: connection, atOnce: itemsPerNotice)
    }

    // MARK: Collections

    func collectionCreated(_ name: CollectionName, all: [ObjectPath]) {
        onProblem?()
        emit(.service, InterfaceName.service, "CollectionCreated", .collection(name), about: .service)
        collectionsChanged(all)
    }

    func collectionDeleted(_ name: CollectionName, all: [ObjectPath]) {
        gathering.removeValue(forKey: name).map(BusActor.loop.cancel)
        gatheringForClients.removeValue(forKey: name)?.values.forEach(BusActor.loop.cancel)
        lockNotices.cancel(name)
        sessionNotices.cancel(name)
        problems[name] = nil
        onProblem?()
        emit(.service, InterfaceName.service, "CollectionDeleted", .collection(name), about: .service)
        collectionsChanged(all)
    }

    /// Emits `Problem` if it has changed; unlocking and reading a secret can change it.
    func problemMayHaveChanged(_ collection: Collection) {
        onProblem?()
        let problem = collection.problem ?? ""
        guard problems[collection.name, default: ""] != problem else { return }
        problems[collection.name] = problem
        send(.collection(collection.name), InterfaceName.keychainCollection, about: .service) { changes in
            changes.writeProperty("Problem", problem)
        }
    }

    func labelChanged(_ collection: Collection) {
        let subject = SignalAudience.Subject.collection(collection)
        send(.collection(collection.name), InterfaceName.collection, about: subject) { changes in
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", collection.modified.seconds)
        } confined: { _, changes in
            changes.writeProperty("Label", collection.label)
        }
        emit(.service, InterfaceName.service, "CollectionChanged", .collection(collection.name), about: subject)
    }

    /// Emits the lock state of a collection and its items.
    ///
    /// - Parameter client: the client that unlocks it; the items that it has found come first, without a pause.
    ///   libsecret reads the attributes from its cache as soon as the prompt has completed.
    func lockChanged(_ collection: Collection, by client: Client? = nil) {
        let isLocked = collection.isLocked
        let subject = SignalAudience.Subject.collection(collection)
        send(.collection(collection.name), InterfaceName.collection, about: subject) { changes in
            changes.writeProperty("Locked", isLocked)
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", collection.modified.seconds)
        } confined: { client, changes in
            changes.writeProperty("Locked", isLocked)
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", client.modified(of: collection).seconds)
        }
        emit(.service, InterfaceName.service, "CollectionChanged", .collection(collection.name), about: subject)
        problemMayHaveChanged(collection)
        var ids = collection.itemIDs
        if let awaited = client?.awaitedItems(in: collection.name), !awaited.isEmpty {
            awaited.forEach { emitLockChanged(of: $0, in: collection) }
            let told = Set(awaited)
            ids.removeAll { told.contains($0) }
        }
        lockNotices.emit(about: ids[...], in: collection.name) { [weak self] id in
            self?.emitLockChanged(of: id, in: collection)
        }
    }

    private func emitLockChanged(of id: ItemID, in collection: Collection) {
        guard let item = collection.item(id) else { return }
        // Before its first unlock, an item has no label, attributes or times.
        itemPropertiesChanged(item, in: collection, [.label, .attributes, .locked, .created])
        emitChange("ItemChanged", of: id, in: collection)
    }

    private func collectionsChanged(_ all: [ObjectPath]) {
        send(.service, InterfaceName.service, about: .service) { $0.writeProperty("Collections", all) }
    }

    /// Shows a notification on the desktop, if it has a service for that.
    func show(_ notification: DesktopNotification) {
        notification.send(on: connection)
    }

    // MARK: Sending

    /// Tells programs outside of sandboxes that the sandboxes have changed.
    func sandboxesChanged() {
        let signal: SignalAudience.Signal = { [connection] destination in
            connection.emit(.sandboxes, InterfaceName.sandboxes, "Changed", to: destination) { _ in }
        }
        audience.send(signal, about: .service)
    }

    func emit(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ object: ObjectPath,
        about subject: SignalAudience.Subject
    ) {
        let signal: SignalAudience.Signal = { [connection] destination in
            connection.emit(path, interface, member, to: destination) { object.write(to: &$0) }
        }
        audience.send(signal, about: subject)
    }

    /// - Parameter confined: writes the changes for a client that does not see all items; nil if they are the same.
    func send(
        _ path: ObjectPath,
        _ interface: String,
        about subject: SignalAudience.Subject,
        _ changes: @escaping @BusActor (inout Writer) -> Void,
        confined: (@BusActor (Client, inout Writer) -> Void)? = nil
    ) {
        let signal: SignalAudience.Signal = { [connection] destination in
            connection.emitPropertiesChanged(path, interface, to: destination) { changes(&$0) }
        }
        guard let confined else { return audience.send(signal, about: subject) }
        audience.send(signal, about: subject) { [connection] client in
            connection.emitPropertiesChanged(path, interface, to: client.name) { confined(client, &$0) }
        }
    }
}
