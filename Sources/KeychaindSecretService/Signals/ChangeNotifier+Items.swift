import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Signals of items.
extension ChangeNotifier {
    func itemCreated(_ id: ItemID, in collection: Collection) {
        emitChange("ItemCreated", of: id, in: collection)
        itemListChanged(collection)
        for client in audience.witnesses(of: id, in: collection) { emitItems(of: collection, to: client) }
    }

    /// - Parameter witnesses: the clients that saw it but not all items, as ``witnesses(of:in:)`` has found before.
    func itemDeleted(_ id: ItemID, in collection: Collection, witnesses: [Client] = []) {
        let (path, item) = (ObjectPath.collection(collection.name), ObjectPath.item(id, in: collection.name))
        emit(path, InterfaceName.collection, "ItemDeleted", item, about: .allItems)
        itemListChanged(collection)
        for client in witnesses {
            client.deliver { [connection] client in
                connection.emit(path, InterfaceName.collection, "ItemDeleted", to: client.name) { item.write(to: &$0) }
            }
            emitItems(of: collection, to: client)
        }
    }

    /// The clients that see an item which is about to be deleted, but not all items.
    func witnesses(of id: ItemID, in collection: Collection) -> [Client] {
        audience.witnesses(of: id, in: collection)
    }

    /// Emits the list of items that exist for a client that does not see all, a long one not more often than to others.
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
        client.deliver { [connection] client in
            connection.emitPropertiesChanged(path, InterfaceName.collection, to: client.name) { changes in
                changes.writeProperty("Modified", client.modified(of: collection).seconds)
                changes.writeProperty("Items", ItemPaths(ids, in: collection.name))
            }
        }
    }

    func emitChange(_ member: String, of id: ItemID, in collection: Collection) {
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
        let ids = collection.itemIDs.filter { id in collection.locksWithSession(id) }
        sessionNotices.emit(about: ids[...], in: collection.name) { [weak self] id in
            guard let self, collection.locksWithSession(id) else { return }
            send(.item(id, in: collection.name), InterfaceName.item, about: .item(id, collection)) { [access] changes in
                changes.writeProperty("Locked", access.isLocked(id, in: collection, for: nil))
            }
        }
    }

    func itemPropertiesChanged(_ item: Item, in collection: Collection, _ properties: ItemProperties) {
        send(.item(item.id, in: collection.name), InterfaceName.item, about: .item(item.id, collection)) {
            [access] changes in
            if properties.contains(.label) { changes.writeProperty("Label", item.label) }
            if properties.contains(.attributes) {
                changes.writeProperty("Attributes", item.attributes)
                changes.writeProperty("Type", item.attributes.type)
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
        send(.collection(collection.name), InterfaceName.collection, about: .allItems) { changes in
            changes.writeProperty("Modified", collection.modified.seconds)
            if isSmall { changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name)) }
        }
        guard !isSmall, gathering[collection.name] == nil else { return }
        gathering[collection.name] = BusActor.loop.schedule(after: ChangeNotifier.gatheringTime) { [weak self] in
            guard let self else { return }
            gathering[collection.name] = nil
            send(.collection(collection.name), InterfaceName.collection, about: .allItems) { changes in
                changes.writeProperty("Items", ItemPaths(collection.itemIDs, in: collection.name))
            }
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

extension Collection {
    /// Whether an item without a policy is locked while the screen is.
    fileprivate func locksWithSession(_ id: ItemID) -> Bool {
        guard case .stated(let protection) = protection(of: id), protection.policy == nil else { return false }
        return protection.accessibility?.needsUnlockedSession == true
    }
}
