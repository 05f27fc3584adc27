package import KeychaindGcrypt
package import KeychaindModel

extension Vault {
    /// Changes a password in every collection that it opens, `login` first.
    ///
    /// Each collection changes on its own; the result names those that failed and those that cannot be read, which the
    /// old password may open once they are repaired. Throws `wrongPassword` when the old password opens no readable
    /// collection, `emptyPassword` and `limitExceeded`.
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

package struct PasswordChange: Sendable {
    package internal(set) var changed: [CollectionName] = []

    /// The unchanged collections that the old password opens or may open, with the reasons.
    package internal(set) var failed: [(name: CollectionName, error: VaultError)] = []
}
