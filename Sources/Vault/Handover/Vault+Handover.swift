package import Gcrypt
package import KeychainModel
import Logging

/// Handover of keys to the next process, so that nobody has to enter a password again.
extension Vault {
    /// Returns the keys of the unlocked collections, in locked memory; nil when there are none.
    ///
    /// They open all secrets except those that need the passcode or an application password.
    package func handOver() throws(VaultError) -> SecureBytes? {
        let entries = collections.compactMap { collection in collection.handover }
        guard !entries.isEmpty else { return nil }
        return try cipher { () throws(GcryptError) in try KeyHandover.encode(entries) }
    }

    /// Unlocks collections with handed-over keys, and returns their names.
    ///
    /// Collections that have been replaced or are already in use are skipped.
    package func takeOver(_ keys: borrowing SecureBytes) async throws(VaultError) -> [CollectionName] {
        let entries = try cipher { () throws(GcryptError) in try KeyHandover.decode(keys) }
        var unlocked: [CollectionName] = []
        for entry in entries {
            guard let collection = collection(named: entry.name) else { continue }
            do throws(VaultError) {
                if try await collection.unlock(with: entry) { unlocked.append(entry.name) }
            } catch {
                collection.context.configuration.logger.warning(
                    "\(entry.name): it could not be unlocked with the handed-over keys: \(error.reason)"
                )
            }
        }
        return unlocked
    }
}

extension Collection {
    /// The keys of this collection while it is unlocked; nil for the collection in memory.
    var handover: KeyHandover.Entry? {
        guard case .unlocked(let secrets) = phase, case .file = storage, let keys, let header else { return nil }
        return KeyHandover.Entry(
            name: name,
            identifier: header.identifier,
            keys: UnlockedKeys(collection: keys, secrets: secrets)
        )
    }
}
