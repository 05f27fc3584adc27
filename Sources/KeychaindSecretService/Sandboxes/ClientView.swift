package import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The items that a client sees.
enum ClientView {
    /// The process behind it has not been looked at yet; its calls wait.
    case undecided
    /// A program outside of sandboxes, or a sandbox that is not limited; its items get the stamp, if any.
    case everything(Stamp?)
    /// A sandboxed program: its own items, and those that are shared with it.
    case own(SandboxView)
    /// A sandbox without a proven name, or a process that cannot be examined.
    case nothing
}

extension ClientView {
    var isUndecided: Bool { if case .undecided = self { true } else { false } }

    /// Whether other programs' items are hidden from it.
    var isConfined: Bool {
        switch self {
        case .everything: false
        case .undecided, .own, .nothing: true
        }
    }

    /// Whether it can store items: what a program without an identity stored could not be found again.
    var mayStore: Bool {
        switch self {
        case .everything, .own: true
        case .undecided, .nothing: false
        }
    }

    /// Whether quotas limit what it stores.
    var isSandboxed: Bool { stamp != nil }

    /// The stamp of what it stores; nil for none.
    var stamp: Stamp? {
        switch self {
        case .everything(let stamp): stamp
        case .own(let view): view.stamp
        case .undecided, .nothing: nil
        }
    }
}

/// How a client may use an item that it sees.
enum ItemRelation {
    /// Its own, or one of its access groups.
    case member
    /// Shared with it by a rule, for reading.
    case reader
}

/// The items of one sandboxed program.
@BusActor
final class SandboxView {
    let stamp: Stamp
    /// The access groups of the program, with the stamps of their other members.
    let groups: [String: [Stamp]]
    private let shared: @BusActor (String, Collection) -> Set<ItemID>
    private unowned let vault: Vault

    /// - Parameter shared: the items of a collection that rules share with a program.
    init(
        of stamp: Stamp,
        groups: [String: [Stamp]],
        in vault: Vault,
        shared: @escaping @BusActor (String, Collection) -> Set<ItemID>
    ) {
        self.stamp = stamp
        self.groups = groups
        self.vault = vault
        self.shared = shared
    }

    /// Its relation to an item; nil for one that does not exist for it.
    func relation(to id: ItemID, in collection: Collection) -> ItemRelation? {
        if collection.hasStamp(stamp, of: id) { return .member }
        if !groups.isEmpty, let group = collection.item(id)?.attributes[Attributes.accessGroup],
            groups[group]?.contains(where: { collection.hasStamp($0, of: id) }) == true
        {
            return .member
        }
        return shared(stamp.program, collection).contains(id) ? .reader : nil
    }

    func sees(_ id: ItemID, in collection: Collection) -> Bool {
        relation(to: id, in: collection) != nil
    }

    /// Whether a collection exists for it: where it can store, and where it has items.
    func sees(_ collection: Collection) -> Bool {
        collection.name == .login || collection.isEphemeral || collection === vault.collection(forAlias: "default")
            || !search(Attributes(), in: collection).isEmpty
    }

    /// The items with all of the attributes, last modified first.
    func search(_ attributes: Attributes, in collection: Collection) -> [ItemID] {
        var hits = ownItems(attributes, stamp, in: collection)
        for (group, members) in groups {
            let wanted = attributes.setting(Attributes.accessGroup, to: group)
            guard attributes[Attributes.accessGroup].map({ $0 == group }) ?? true else { continue }
            for member in members { hits += ownItems(wanted, member, in: collection) }
        }
        let others = shared(stamp.program, collection)
        if !others.isEmpty {
            let known = Set(hits)
            hits += collection.search(attributes).filter { others.contains($0) && !known.contains($0) }
        }
        guard groups.isEmpty, others.isEmpty else { return hits.sortedByTime(in: collection) }
        return hits
    }

    /// The index finds these among any number of others.
    private func ownItems(_ attributes: Attributes, _ stamp: Stamp, in collection: Collection) -> [ItemID] {
        guard attributes[Attributes.program].map({ $0 == stamp.program }) ?? true else { return [] }
        return collection.search(attributes.stamped(by: stamp.program))
    }
}

extension [ItemID] {
    /// Last modified first; an item without a time comes last.
    fileprivate func sortedByTime(in collection: Collection) -> [ItemID] {
        let times = map { ($0, collection.modified(of: $0)?.microsecondsSinceEpoch ?? .min) }
        return times.sorted { $0.1 == $1.1 ? $0.0 > $1.0 : $0.1 > $1.1 }.map(\.0)
    }
}

extension Attributes {
    /// The attribute with the access group.
    static let accessGroup = ReservedAttribute.accessGroup.rawValue
}

// MARK: What a client sees

/// What decides which items a client sees, at the beginning of a long reply.
struct ClientSight {
    fileprivate let isConfined: Bool
    /// Nil if no rule hides items from the client.
    fileprivate let hiding: ClientRules.State?
}

extension Client {
    var sight: ClientSight {
        let rules = environment.rules
        let isHiding = !rules.awaitsCaller(of: self) && rules.hidesItems(from: self)
        return ClientSight(isConfined: view.isConfined, hiding: isHiding ? rules.selection(for: self) : nil)
    }

    /// Throws `AccessDenied` if a person has limited the program since, or rules may have hidden items from it.
    ///
    /// What was written before the end of a long reply may be of others.
    func check(_ earlier: ClientSight) throws(BusError) {
        if !earlier.isConfined { try checkUnconfined() }
        guard environment.rules.hidesItems(from: self) else { return }
        guard let hiding = sight.hiding, hiding === earlier.hiding else {
            throw BusError(.accessDenied, "rules that hide items have changed; try again")
        }
    }

    /// Whether all items exist for the client.
    var seesAllItems: Bool { !view.isConfined && !environment.rules.hidesItems(from: self) }

    /// Whether an item exists for the client.
    func sees(_ id: ItemID, in collection: Collection) -> Bool {
        let isInView =
            switch view {
            case .everything: true
            case .own(let own): own.sees(id, in: collection)
            case .undecided, .nothing: false
            }
        return isInView && !environment.rules.hides(id, in: collection, from: self)
    }

    /// Those of the items that rules do not hide from the client.
    private func unhidden(_ ids: [ItemID], in collection: Collection) -> [ItemID] {
        let rules = environment.rules
        return rules.hidesItems(from: self) ? ids.filter { !rules.hides($0, in: collection, from: self) } : ids
    }

    /// Whether a collection exists for the client.
    func sees(_ collection: Collection) -> Bool {
        switch view {
        case .everything: true
        case .own(let own): own.sees(collection)
        case .undecided, .nothing: false
        }
    }

    /// Whether the client may change an item that it sees.
    func mayChange(_ id: ItemID, in collection: Collection) -> Bool {
        switch view {
        case .everything: true
        case .own(let own): own.relation(to: id, in: collection) == .member
        case .undecided, .nothing: false
        }
    }

    /// The items with all of the attributes that exist for the client, last modified first.
    func search(_ attributes: Attributes, in collection: Collection) -> [ItemID] {
        let found =
            switch view {
            case .everything: collection.search(attributes)
            case .own(let own): own.search(attributes, in: collection)
            case .undecided, .nothing: [ItemID]()
            }
        return unhidden(found, in: collection)
    }

    /// The items of a collection that exist for the client.
    func itemIDs(in collection: Collection) -> [ItemID] {
        guard !view.isConfined else { return search(Attributes(), in: collection).sorted() }
        return unhidden(collection.itemIDs, in: collection)
    }

    /// The collections that exist for the client.
    func collections(of vault: Vault) -> [Collection] {
        view.isConfined ? vault.collections.filter { sees($0) } : vault.collections
    }

    /// The time of the last change of a collection, not counting items that do not exist for the client.
    func modified(of collection: Collection) -> Timestamp {
        guard !seesAllItems else { return collection.modified }
        return itemIDs(in: collection).compactMap(collection.modified(of:)).max() ?? collection.created
    }

    /// The attributes of items that the client may replace by storing another.
    var replacedAttributes: Attributes {
        if case .own(let own) = view { own.stamp.attribute } else { Attributes() }
    }

    /// The lockable object at a path, if it exists for the client.
    func findLockable(_ path: ObjectPath, in vault: Vault) -> (Collection, ItemID?)? {
        guard let found = vault.findLockable(path) else { return nil }
        return (found.1.map { sees($0, in: found.0) } ?? sees(found.0)) ? found : nil
    }

    /// The item at a path, if it exists for the client.
    func findItem(_ path: ObjectPath, in vault: Vault) -> (Collection, ItemID)? {
        guard let (collection, id) = findLockable(path, in: vault), let id else { return nil }
        return (collection, id)
    }
}

// MARK: Access groups

extension Client {
    /// Whether the program, whose sandbox proves who it is, has stored an item; it may delete that without asking.
    func hasStored(_ id: ItemID, in collection: Collection) -> Bool {
        if case .own(let own) = view { collection.hasStamp(own.stamp, of: id) } else { false }
    }

    /// Throws `MissingEntitlement` for attributes with an access group that is not the program's.
    ///
    /// Programs without a proven identity share all groups.
    ///
    /// - Parameter old: the attributes that the new ones replace; their group may stay.
    func checkAccessGroup(of new: Attributes, instead old: Attributes = Attributes()) throws(BusError) {
        guard case .own(let own) = view, let group = new[Attributes.accessGroup], group != own.stamp.program,
            own.groups[group] == nil, group != old[Attributes.accessGroup]
        else { return }
        throw BusError(.missingEntitlement, "the program is not in that access group")
    }
}

extension ErrorName {
    /// The access group of an item is not one of the program's.
    package static let missingEntitlement = ErrorName(rawValue: "org.keychaind.Error.MissingEntitlement")
}
