import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Hits of a search over all collections.
struct SearchHits {
    private let client: Client
    private let access: ItemAccess
    private var unlockedGroups: [Group] = []
    private var lockedGroups: [Group] = []

    private struct Group {
        let collection: Collection
        let ids: [ItemID]
    }

    private struct Hit {
        let modified: Timestamp?
        let group: Int
        // Position among hits of the same time.
        let place: Int
        let id: ItemID

        func comes(before other: Hit) -> Bool {
            if modified == other.modified { return place < other.place }
            guard let modified else { return false }
            return other.modified.map { $0 < modified } ?? true
        }
    }

    /// - Parameter client: the client that decides which items are locked.
    init(for client: Client, access: ItemAccess) {
        self.client = client
        self.access = access
    }

    /// Adds the hits of a collection, newest first.
    @BusActor
    mutating func add(_ ids: [ItemID], in collection: Collection) {
        if addTogether(ids, in: collection) { return }
        var (unlocked, locked): ([ItemID], [ItemID]) = ([], [])
        for id in ids {
            if access.isLocked(id, in: collection, for: client) { locked.append(id) } else { unlocked.append(id) }
        }
        unlockedGroups.append(Group(collection: collection, ids: unlocked))
        lockedGroups.append(Group(collection: collection, ids: locked))
    }

    /// Adds hits that are all locked or all unlocked; false if each must be looked at.
    @BusActor
    private mutating func addTogether(_ ids: [ItemID], in collection: Collection) -> Bool {
        if ids.isEmpty { return true }
        if collection.isLocked {
            lockedGroups.append(Group(collection: collection, ids: ids))
            return true
        }
        if collection.hasProtectedItems || collection.hasProblem || access.rules.isActive { return false }
        unlockedGroups.append(Group(collection: collection, ids: ids))
        return true
    }

    /// Maximum bytes of the paths in a message.
    var byteCount: Int { SearchHits.byteCount(of: unlockedGroups) + SearchHits.byteCount(of: lockedGroups) }

    private static func byteCount(of groups: [Group]) -> Int {
        groups.reduce(0) { $0 + $1.ids.count * ItemPaths.maximumByteCount(in: $1.collection.name) }
    }

    /// The paths, newest first in each list (#66).
    func paths() -> (unlocked: ItemPaths, locked: ItemPaths) {
        (SearchHits.merge(unlockedGroups), SearchHits.merge(lockedGroups))
    }

    /// The hits in locked collections.
    var hitsInLockedCollections: some Sequence<ItemReference> {
        lockedGroups.lazy.filter { $0.collection.isLocked }.flatMap { group in
            group.ids.lazy.map { ItemReference($0, in: group.collection) }
        }
    }

    /// Merges the hits of several collections, newest first.
    ///
    /// Items that were never unlocked have no time, and come last.
    private static func merge(_ groups: [Group]) -> ItemPaths {
        guard groups.count > 1 else { return paths(of: groups) }
        var paths = ItemPaths()
        var hits: [Hit] = []
        hits.reserveCapacity(groups.reduce(0) { $0 + $1.ids.count })
        for (index, group) in groups.enumerated() {
            for id in group.ids {
                hits.append(Hit(modified: group.collection.modified(of: id), group: index, place: hits.count, id: id))
            }
        }
        hits.sort { first, second in first.comes(before: second) }
        for hit in hits { paths.append(hit.id, in: groups[hit.group].collection.name) }
        return paths
    }

    private static func paths(of groups: [Group]) -> ItemPaths {
        var paths = ItemPaths()
        groups.forEach { paths.append($0.ids, in: $0.collection.name) }
        return paths
    }
}
