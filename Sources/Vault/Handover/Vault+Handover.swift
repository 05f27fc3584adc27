package import Gcrypt
package import KeychainModel
import Logging

/// What a process leaves to the one that comes next, so that nobody is asked for a password in between.
extension Vault {
    /// The keys of the collections that are unlocked, in locked memory; nil when none is.
    ///
    /// Whoever has them has the secrets, but those that take the passcode or a password of their own.
    package func handOver() throws(VaultError) -> SecureBytes? {
        let entries = collections.compactMap { collection in collection.handover }
        guard !entries.isEmpty else { return nil }
        return try cipher { () throws(GcryptError) in try KeyHandover.encode(entries) }
    }

    /// Unlocks collections with the keys that were handed over, and gives their names.
    ///
    /// A collection that has become another meanwhile, or is in use already, stays as it is.
    package func takeOver(_ keys: borrowing SecureBytes) async throws(VaultError) -> [CollectionName] {
        let entries = try cipher { () throws(GcryptError) in try KeyHandover.decode(keys) }
        var unlocked: [CollectionName] = []
        for entry in entries {
            guard let collection = collection(named: entry.name) else { continue }
            do throws(VaultError) {
                if try await collection.unlock(with: entry) { unlocked.append(entry.name) }
            } catch {
                collection.context.configuration.logger.warning("\(entry.name): it stays locked: \(error.reason)")
            }
        }
        return unlocked
    }
}

extension Collection {
    /// What opens this collection, while it is unlocked; the one in memory goes with its process.
    var handover: KeyHandover.Entry? {
        guard case .unlocked(let secrets) = phase, case .file = storage, let keys, let header else { return nil }
        return KeyHandover.Entry(
            name: name,
            identifier: header.identifier,
            keys: UnlockedKeys(collection: keys, secrets: secrets)
        )
    }
}
