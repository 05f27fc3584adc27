import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

extension ProviderAccess {
    /// Unlocks items together, so that a person is asked as rarely as possible.
    ///
    /// Throws the reason if any stays locked: a dismissal, a wrong password, a locked reader.
    func unlock(_ items: [SecretItem], _ prompting: SecretPrompting) async throws {
        guard !items.isEmpty else { return }
        let unlocked: [SecretItem]
        if prompting.isAllowed, let context = try await client.makeAuthenticationContext() {
            unlocked = try await context.unlock(items, prompting: prompting)
        } else {
            unlocked = try await client.unlock(items, prompting: prompting)
        }
        guard unlocked.count == Set(items.map(\.path)).count else {
            throw CommandFailure(
                .locked,
                items.count == 1 ? Text("the item stayed locked") : Text("some items stayed locked")
            )
        }
    }

    /// Asks a person once to allow an operation on protected items, where the provider is keychaind.
    ///
    /// The context must live until the operation is done.
    func authorize(
        _ action: ProviderContext.Action,
        _ items: [ListedItem],
        _ prompting: SecretPrompting
    ) async throws -> ProviderContext? {
        let protected = items.filter(\.isProtected).map(\.item)
        guard !protected.isEmpty, let context = try await client.makeAuthenticationContext() else { return nil }
        let allowed = try await context.authorize(action, protected, prompting: prompting)
        guard allowed.count == protected.count else {
            throw CommandFailure(.locked, "not all items may be changed, so nothing was")
        }
        return context
    }

    /// Unlocks the keychains of items whose properties are hidden or that are locked with their keychain.
    func unlockKeychains(of items: [ListedItem], _ prompting: SecretPrompting) async throws {
        let paths = Set(items.filter(\.properties.isLocked).map(\.collectionPath)).sorted()
        var locked: [SecretCollection] = []
        for path in paths {
            let collection = try client.collection(at: path)
            if try await collection.isLocked() { locked.append(collection) }
        }
        guard !locked.isEmpty else { return }
        guard try await client.unlock(locked, prompting: prompting).count == locked.count else {
            throw CommandFailure(.locked, "the keychain stayed locked")
        }
    }
}
