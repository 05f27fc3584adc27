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
    private let itemsPerNotice: Int
    private var gathering: [CollectionName: Timer] = [:]
    /// Pending signals of items in collections that were locked or unlocked.
    private var lockNotices: [CollectionName: Timer] = [:]
    /// The last emitted problem of each collection.
    private var problems: [CollectionName: String] = [:]
    /// Called when a collection may have become readable or unreadable.
    var onProblem: (@BusActor () -> Void)?
    private static let pause = Duration.milliseconds(2)
    private static let gatheringTime = Duration.seconds(1)

    init(connection: Connection, access: ItemAccess, itemsPerNotice: Int) {
        self.connection = connection
        self.access = access
        self.itemsPerNotice = itemsPerNotice
    }

    // MARK: Collections

    func collectionCreated(_ name: CollectionName, all: [ObjectPath]) {
        onProblem?()
        emit(.service, InterfaceName.service, "CollectionCreated", .collection(name))
        collectionsChanged(all)
    }

    func collectionDeleted(_ name: CollectionName, all: [ObjectPath]) {
        gathering.removeValue(forKey: name).map(BusActor.loop.cancel)
        lockNotices.removeValue(forKey: name).map(BusActor.loop.cancel)
        problems[name] = nil
        onProblem?()
        emit(.service, InterfaceName.service, "CollectionDeleted", .collection(name))
        collectionsChanged(all)
    }

    /// Emits `Problem` if it has changed; unlocking and reading a secret can change it.
    func problemMayHaveChanged(_ collection: Collection) {
        onProblem?()
        let problem = collection.problem ?? ""
        guard problems[collection.name, default: ""] != problem else { return }
        problems[collection.name] = problem
        send(.collection(collection.name), InterfaceName.keychainCollection) { changes in
            changes.writeProperty("Problem", problem)
        }
    }

    func labelChanged(_ collection: Collection) {
        send(.collection(collection.name), InterfaceName.collection) { changes in
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", collection.modified.seconds)
        }
        emit(.service, InterfaceName.service, "CollectionChanged", .collection(collection.name))
    }

    /// Emits the lock state of a collection and its items.
    ///
    /// - Parameter client: the client that unlocks it; the items that it has found come first, without a pause.
    ///   libsecret reads the attributes from its cache as soon as the prompt has completed.
    func lockChanged(_ collection: Collection, by client: Client? = nil) {
        let isLocked = collection.isLocked
        send(.collection(collection.name), InterfaceName.collection) { changes in
            changes.writeProperty("Locked", isLocked)
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", collection.modified.seconds)
        }
        emit(.service, InterfaceName.service, "CollectionChanged", .collection(collection.name))
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
        lockNotices[collection.name] =
            rest.isEmpty
            ? nil
            : BusActor.loop.schedule(after: ChangeNotifier.pause) { [weak self] in
                self?.emitLockChanged(of: rest, in: collection)
            }
    }

    private func emitLockChanged(of id: ItemID, in collection: Collection) {
        guard let item = collection.item(id) else { return }
        // Before its first unlock, an item has no label, attributes or times.
        itemPropertiesChanged(item, in: collection, [.label, .attributes, .locked, .created])
        emit(.collection(collection.name), InterfaceName.collection, "ItemChanged", .item(id, in: collection.name))
    }

    private func collectionsChanged(_ all: [ObjectPath]) {
        send(.service, InterfaceName.service) { $0.writeProperty("Collections", all) }
    }

    /// Shows a notification on the desktop, if it has a service for that.
    func show(_ notification: DesktopNotification) {
        notification.send(on: connection)
    }

    // MARK: Items

    func itemCreated(_ id: ItemID, in collection: Collection) {
        emit(.collection(collection.name), InterfaceName.collection, "ItemCreated", .item(id, in: collection.name))
        itemListChanged(collection)
    }

    func itemDeleted(_ id: ItemID, in collection: Collection) {
        emit(.collection(collection.name), InterfaceName.collection, "ItemDeleted", .item(id, in: collection.name))
        itemListChanged(collection)
    }

    func itemChanged(_ id: ItemID, in collection: Collection, _ properties: ItemProperties) {
        guard let item = collection.item(id) else { return }
        itemPropertiesChanged(item, in: collection, properties)
        emit(.collection(collection.name), InterfaceName.collection, "ItemChanged", .item(id, in: collection.name))
        send(.collection(collection.name), InterfaceName.collection) { changes in
            changes.writeProperty("Modified", collection.modified.seconds)
        }
    }

    /// Emits the change of items that are locked with the screen.
    func sessionLockChanged(_ collection: Collection) {
        for id in collection.itemIDs {
            guard case .stated(let protection) = collection.protection(of: id), protection.policy == nil,
                protection.accessibility?.needsUnlockedSession == true
            else { continue }
            send(.item(id, in: collection.name), InterfaceName.item) { changes in
                changes.writeProperty("Locked", access.isLocked(id, in: collection, for: nil))
            }
        }
    }

    private func itemPropertiesChanged(_ item: Item, in collection: Collection, _ properties: ItemProperties) {
        send(.item(item.id, in: collection.name), InterfaceName.item) { changes in
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
        send(.collection(collection.name), InterfaceName.collection) { changes in
            changes.writeProperty("Modified", collection.modified.seconds)
            if isSmall { changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name)) }
        }
        guard !isSmall, gathering[collection.name] == nil else { return }
        gathering[collection.name] = BusActor.loop.schedule(after: ChangeNotifier.gatheringTime) { [weak self] in
            guard let self else { return }
            gathering[collection.name] = nil
            send(.collection(collection.name), InterfaceName.collection) { changes in
                changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name))
            }
        }
    }

    // MARK: Sending

    private func emit(_ path: ObjectPath, _ interface: String, _ member: String, _ subject: ObjectPath) {
        connection.emit(path, interface, member) { subject.write(to: &$0) }
    }

    private func send(_ path: ObjectPath, _ interface: String, _ changes: (inout Writer) -> Void) {
        connection.emitPropertiesChanged(path, interface, changes)
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
