import DBus
import KeychainModel
import Vault

/// What a search over all collections has found.
struct SearchHits {
    private let caller: String
    private let access: ItemAccess
    private var unlockedGroups: [Group] = []
    private var lockedGroups: [Group] = []

    /// The hits of a collection, newest first.
    private struct Group {
        let collection: Collection
        let ids: [ItemID]
    }

    /// - Parameter caller: whom the items are locked to, or not.
    init(for caller: String, access: ItemAccess) {
        self.caller = caller
        self.access = access
    }

    /// Adds the hits of a collection, newest first.
    @BusActor
    mutating func add(_ ids: [ItemID], in collection: Collection) {
        if ids.isEmpty { return }
        guard !collection.isLocked else { return lockedGroups.append(Group(collection: collection, ids: ids)) }
        guard collection.hasProtectedItems || collection.problem != nil else {
            return unlockedGroups.append(Group(collection: collection, ids: ids))
        }
        let isLocked = { [access, caller] id in access.isLocked(id, in: collection, for: caller) }
        unlockedGroups.append(Group(collection: collection, ids: ids.filter { !isLocked($0) }))
        lockedGroups.append(Group(collection: collection, ids: ids.filter(isLocked)))
    }

    /// The paths of the hits that are unlocked and of those that are locked, newest first in each list (#66).
    func paths() -> (unlocked: ItemPaths, locked: ItemPaths) {
        (SearchHits.merge(unlockedGroups), SearchHits.merge(lockedGroups))
    }

    /// Brings the hits of several collections in one order; what was never unlocked tells no time, and comes last.
    private static func merge(_ groups: [Group]) -> ItemPaths {
        var paths = ItemPaths()
        guard groups.count > 1 else {
            groups.forEach { paths.append($0.ids, in: $0.collection.name) }
            return paths
        }
        let times = groups.map { group in
            group.ids.map { group.collection.item($0)?.modified.microsecondsSinceEpoch ?? .min }
        }
        var positions = groups.map { _ in 0 }
        while let next = groups.indices.filter({ positions[$0] < times[$0].count })
            .max(by: { times[$0][positions[$0]] < times[$1][positions[$1]] })
        {
            paths.append(groups[next].ids[positions[next]], in: groups[next].collection.name)
            positions[next] += 1
        }
        return paths
    }
}
