import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension Vault {
    func find(_ reference: SecretPath.CollectionReference) -> Collection? {
        switch reference {
        case .name(let name): collection(named: name)
        case .alias(let element):
            AliasElement.decodings(of: element).lazy.compactMap { self.collection(forAlias: $0) }.first
        }
    }

    /// The lockable object at a path: a collection, or an item in one.
    func findLockable(_ path: ObjectPath) -> (Collection, ItemID?)? {
        switch SecretPath(path) {
        case .collection(let reference):
            return find(reference).map { ($0, nil) }
        case .item(let reference, let id):
            guard let collection = find(reference), collection.contains(id) else { return nil }
            return (collection, id)
        default:
            return nil
        }
    }

    func findItem(_ path: ObjectPath) -> (Collection, ItemID)? {
        guard let (collection, id) = findLockable(path), let id else { return nil }
        return (collection, id)
    }

    var collectionPaths: [ObjectPath] {
        collections.map { .collection($0.name) }
    }
}
