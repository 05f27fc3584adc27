import DBus
import KeychainModel
import Vault

/// Tells everybody on the bus what has changed (#84 – #87, #99 – #101, #112).
///
/// Signals come from the real paths only, never from aliases, and each before the reply of the call that caused it, so that
/// a client's cache is right when its call returns.
///
/// `Items` is the exception: it is a list of all, and a list of 100,000 for every new item would cost more than the item. Up to
/// a bound it is sent at once; beyond, changes are gathered and told at most once a second. It cannot be sent as invalidated:
/// libsecret's handler of ItemCreated reads the cached list and needs one to be there.
@BusActor
final class ChangeNotifier {
    private let connection: Connection
    private let access: ItemAccess
    private let itemsPerNotice: Int
    private var gathering: [CollectionName: Timer] = [:]
    /// The items of a collection that are still to be told of being locked or unlocked.
    private var lockNotices: [CollectionName: Timer] = [:]
    /// What is wrong with collections, as it was told last.
    private var problems: [CollectionName: String] = [:]
    private static let pause = Duration.milliseconds(2)
    private static let gatheringTime = Duration.seconds(1)

    init(connection: Connection, access: ItemAccess, itemsPerNotice: Int) {
        self.connection = connection
        self.access = access
        self.itemsPerNotice = itemsPerNotice
        access.onChange = { [weak self] item, isLocked, caller in
            self?.lockChanged(of: item, isLocked, for: caller)
        }
    }

    // MARK: Collections

    func collectionCreated(_ name: CollectionName, all: [ObjectPath]) {
        emit(.service, InterfaceName.service, "CollectionCreated", .collection(name))
        collectionsChanged(all)
    }

    func collectionDeleted(_ name: CollectionName, all: [ObjectPath]) {
        gathering.removeValue(forKey: name).map(BusActor.loop.cancel)
        lockNotices.removeValue(forKey: name).map(BusActor.loop.cancel)
        problems[name] = nil
        emit(.service, InterfaceName.service, "CollectionDeleted", .collection(name))
        collectionsChanged(all)
    }

    /// Tells what is wrong with a collection if that has changed, as it may by unlocking it and by reading a secret.
    func tellProblem(of collection: Collection) {
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

    /// Tells that a collection was locked or unlocked, and with it its items.
    func lockChanged(_ collection: Collection) {
        let isLocked = collection.isLocked
        send(.collection(collection.name), InterfaceName.collection) { changes in
            changes.writeProperty("Locked", isLocked)
            changes.writeProperty("Label", collection.label)
            changes.writeProperty("Modified", collection.modified.seconds)
        }
        emit(.service, InterfaceName.service, "CollectionChanged", .collection(collection.name))
        tellProblem(of: collection)
        lockNotices.removeValue(forKey: collection.name).map(BusActor.loop.cancel)
        tellLockChanged(of: collection.itemIDs[...], in: collection)
    }

    /// Tells of some items, and of the others in later turns of the loop: calls are answered in between.
    private func tellLockChanged(of ids: ArraySlice<ItemID>, in collection: Collection) {
        for id in ids.prefix(itemsPerNotice) {
            guard let item = collection.item(id) else { continue }
            // An item that was never unlocked before has shown neither label nor attributes nor times.
            itemPropertiesChanged(item, in: collection, [.label, .attributes, .locked, .created])
        }
        let rest = ids.dropFirst(itemsPerNotice)
        lockNotices[collection.name] =
            rest.isEmpty
            ? nil
            : BusActor.loop.schedule(after: ChangeNotifier.pause) { [weak self] in
                self?.tellLockChanged(of: rest, in: collection)
            }
    }

    private func collectionsChanged(_ all: [ObjectPath]) {
        send(.service, InterfaceName.service) { $0.writeProperty("Collections", all) }
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

    /// Tells one caller that an item is locked to it, or not; to the others nothing has changed.
    private func lockChanged(of item: ItemReference, _ isLocked: Bool, for caller: String) {
        let path = ObjectPath.item(item.id, in: item.collection)
        connection.emitPropertiesChanged(path, InterfaceName.item, to: caller) { changes in
            changes.writeProperty("Locked", isLocked)
        }
    }

    /// Tells everybody of the items that are locked as long as the session is.
    func sessionLockChanged(_ collection: Collection) {
        for id in collection.itemIDs {
            guard case .stated(let protection) = collection.protection(of: id), protection.policy == nil,
                protection.accessibility?.needsUnlockedSession == true
            else { continue }
            send(.item(id, in: collection.name), InterfaceName.item) { changes in
                changes.writeProperty("Locked", access.isLocked(id, in: collection))
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
                changes.writeProperty("Locked", access.isLocked(item.id, in: collection))
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
