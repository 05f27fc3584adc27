package import Gcrypt
import KeychainModel

extension Vault {
    /// Puts a new password in the place of an old one in every collection that the old one opens, `login` first.
    ///
    /// Each collection changes by itself, whole and durable; one that cannot be changed is named in the result and does not keep the
    /// others from it. So is one that cannot be read, since the old password may open it once it has been repaired.
    /// Throws `wrongPassword` when the old password opens none that can be read, `emptyPassword` and `limitExceeded`.
    package func changePasswords(
        from old: consuming SecureBytes,
        to new: consuming SecureBytes
    ) async throws(VaultError) -> PasswordChange {
        try limits.check(password: old)
        try limits.check(password: new)
        let (old, new) = (SharedPassword(old), SharedPassword(new))
        var change = PasswordChange()
        var unreadable: [(CollectionName, VaultError)] = []
        var isWrong = false
        let login = collections.filter { collection in collection.name == .login }
        for collection in login + collections.filter({ collection in collection.name != .login }) {
            if case .unreadable(let reason) = collection.state {
                unreadable.append((collection.name, VaultError(.unreadable, reason: reason)))
                continue
            }
            guard collection.header != nil else { continue }
            do throws(VaultError) {
                try await collection.changePassword(from: old, to: new)
                change.changed.append(collection.name)
            } catch  where error.code == .wrongPassword || error.code == .mistypedRecoveryKey {
                isWrong = true
            } catch {
                change.failed.append((collection.name, error))
            }
        }
        guard !change.changed.isEmpty || !change.failed.isEmpty || !isWrong && !unreadable.isEmpty else {
            throw VaultError(.wrongPassword, reason: "the old password opens no collection")
        }
        change.failed += unreadable
        return change
    }
}
