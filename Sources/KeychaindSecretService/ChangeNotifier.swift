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
    private let connection: Connection
    private let access: ItemAccess
    private let audience: SignalAudience
    private let itemsPerNotice: Int
    private var gathering: [CollectionName: Timer] = [:]
    /// Pending lists for confined clients, each of which has its own.
    private var gatheringForClients: [CollectionName: [String: Timer]] = [:]
    /// Pending signals of items in collections that were locked or unlocked.
    private var lockNotices: [CollectionName: Timer] = [:]
    /// The last emitted problem of each collection.
    private var problems: [CollectionName: String] = [:]
    /// Called when a collection may have become readable or unreadable.
    var onProblem: (@BusActor () -> Void)?
    private static let pause = Duration.milliseconds(2)
    private static let gatheringTime = Duration.seconds(1)
    /// Unsent bytes for which the signals of items wait.
    private static let unsentBytes = 64 << 10

    init(connection: Connection, access: ItemAccess, audience: SignalAudience, itemsPerNotice: Int) {
        self.connection = connection
        self.access = access
        self.audience = audience
        self.itemsPerNotice = itemsPerNotice
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
        lockNotices.removeValue(forKey: name).map(BusActor.loop.cancel)
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
        lockNotices.removeValue(forKey: collection.name).map(BusActor.loop.cancel)
        var ids = collection.itemIDs
        if let awaited = client?.awaitedItems(in: collection.name), !awaited.isEmpty {
            awaited.forEach { emitLockChanged(of: $0, in: collection) }
            let told = Set(awaited)
            ids.removeAll { told.contains($0) }
        }
        emitLockChanged(of: ids[...], in: collection)
    }

    /// Emits the change of some items, and of the rest in later turns of the event loop.
    private func emitLockChanged(of ids: ArraySlice<ItemID>, in collection: Collection) {
        ids.prefix(itemsPerNotice).forEach { emitLockChanged(of: $0, in: collection) }
        let rest = ids.dropFirst(itemsPerNotice)
        lockNotices[collection.name] = nil
        if !rest.isEmpty { emitLockChangedLater(of: rest, in: collection, at: connection.endOfQueue) }
    }

    /// Goes on after a pause, once the bus has taken most of the signals: beside a sandbox, each goes to many clients.
    ///
    /// - Parameter place: the bytes to be sent by then. What is queued later does not count: large replies to a program
    ///   may keep the queue full for ever.
    private func emitLockChangedLater(of ids: ArraySlice<ItemID>, in collection: Collection, at place: Int) {
        lockNotices[collection.name] = BusActor.loop.schedule(after: ChangeNotifier.pause) { [weak self] in
            guard let self else { return }
            guard connection.bytesToSend < ChangeNotifier.unsentBytes || connection.sentBytes >= place else {
                return emitLockChangedLater(of: ids, in: collection, at: place)
            }
            emitLockChanged(of: ids, in: collection)
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

    // MARK: Items

    func itemCreated(_ id: ItemID, in collection: Collection) {
        emitChange("ItemCreated", of: id, in: collection)
        itemListChanged(collection)
        for client in audience.witnesses(of: id, in: collection) { emitItems(of: collection, to: client) }
    }

    /// - Parameter witnesses: the confined clients that saw it, as ``witnesses(of:in:)`` has found before.
    func itemDeleted(_ id: ItemID, in collection: Collection, witnesses: [Client] = []) {
        let (path, item) = (ObjectPath.collection(collection.name), ObjectPath.item(id, in: collection.name))
        emit(path, InterfaceName.collection, "ItemDeleted", item, about: .service)
        itemListChanged(collection)
        for client in witnesses {
            connection.emit(path, InterfaceName.collection, "ItemDeleted", to: client.name) { item.write(to: &$0) }
            emitItems(of: collection, to: client)
        }
    }

    /// The confined clients that see an item which is about to be deleted.
    func witnesses(of id: ItemID, in collection: Collection) -> [Client] {
        audience.witnesses(of: id, in: collection)
    }

    /// Emits the list of items that exist for a confined client, a long one not more often than to others.
    private func emitItems(of collection: Collection, to client: Client) {
        let (place, name) = (collection.name, client.name)
        guard gatheringForClients[place]?[name] == nil else { return }
        let ids = client.itemIDs(in: collection)
        guard ids.count > itemsPerNotice else { return emit(ids, of: collection, to: client) }
        gatheringForClients[place, default: [:]][name] = BusActor.loop.schedule(after: ChangeNotifier.gatheringTime) {
            [weak self, weak client] in
            self?.gatheringForClients[place]?[name] = nil
            guard let self, let client, client.isConnected else { return }
            emit(client.itemIDs(in: collection), of: collection, to: client)
        }
    }

    private func emit(_ ids: [ItemID], of collection: Collection, to client: Client) {
        let path = ObjectPath.collection(collection.name)
        connection.emitPropertiesChanged(path, InterfaceName.collection, to: client.name) { changes in
            changes.writeProperty("Modified", client.modified(of: collection).seconds)
            changes.writeProperty("Items", ItemPaths(ids, in: collection.name))
        }
    }

    private func emitChange(_ member: String, of id: ItemID, in collection: Collection) {
        let path = ObjectPath.item(id, in: collection.name)
        emit(.collection(collection.name), InterfaceName.collection, member, path, about: .item(id, collection))
    }

    func itemChanged(_ id: ItemID, in collection: Collection, _ properties: ItemProperties) {
        guard let item = collection.item(id) else { return }
        itemPropertiesChanged(item, in: collection, properties)
        emitChange("ItemChanged", of: id, in: collection)
        send(.collection(collection.name), InterfaceName.collection, about: .item(id, collection)) { changes in
            changes.writeProperty("Modified", collection.modified.seconds)
        } confined: { client, changes in
            changes.writeProperty("Modified", client.modified(of: collection).seconds)
        }
    }

    /// Emits the change of items that are locked with the screen.
    func sessionLockChanged(_ collection: Collection) {
        for id in collection.itemIDs {
            guard case .stated(let protection) = collection.protection(of: id), protection.policy == nil,
                protection.accessibility?.needsUnlockedSession == true
            else { continue }
            send(.item(id, in: collection.name), InterfaceName.item, about: .item(id, collection)) { [access] changes in
                changes.writeProperty("Locked", access.isLocked(id, in: collection, for: nil))
            }
        }
    }

    private func itemPropertiesChanged(_ item: Item, in collection: Collection, _ properties: ItemProperties) {
        send(.item(item.id, in: collection.name), InterfaceName.item, about: .item(item.id, collection)) {
            [access] changes in
            if properties.contains(.label) { changes.writeProperty("Label", item.label) }
            if properties.contains(.attributes) {
                changes.writeProperty("Attributes", item.attributes)
                changes.writeProperty("Type", item.type)
            }
            if properties.contains(.locked) {
                changes.writeProperty("Locked", access.isLocked(item.id, in: collection, for: nil))
            }
            if properties.contains(.created) { changes.writeProperty("Created", item.created.seconds) }
            changes.writeProperty("Modified", item.modified.seconds)
        }
    }

    private func itemListChanged(_ collection: Collection) {
        let isSmall = collection.itemCount <= itemsPerNotice
        send(.collection(collection.name), InterfaceName.collection, about: .service) { changes in
            changes.writeProperty("Modified", collection.modified.seconds)
            if isSmall { changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name)) }
        }
        guard !isSmall, gathering[collection.name] == nil else { return }
        gathering[collection.name] = BusActor.loop.schedule(after: ChangeNotifier.gatheringTime) { [weak self] in
            guard let self else { return }
            gathering[collection.name] = nil
            send(.collection(collection.name), InterfaceName.collection, about: .service) { changes in
                changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name))
            }
        }
    }

    // MARK: Sending

    /// Tells programs outside of sandboxes that the sandboxes have changed.
    func sandboxesChanged() {
        let signal: SignalAudience.Signal = { [connection] destination in
            connection.emit(.sandboxes, InterfaceName.sandboxes, "Changed", to: destination) { _ in }
        }
        audience.send(signal, about: .service)
    }

    private func emit(
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

    /// - Parameter confined: writes the changes for a confined client; nil if they are the same.
    private func send(
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

/// Changed properties of an item; `Modified` always changes.
struct ItemProperties: OptionSet {
    let rawValue: Int

    static let label = ItemProperties(rawValue: 1)
    static let attributes = ItemProperties(rawValue: 2)
    static let locked = ItemProperties(rawValue: 4)
    static let created = ItemProperties(rawValue: 8)
    static let all: ItemProperties = [.label, .attributes]
}
