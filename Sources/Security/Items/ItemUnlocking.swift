import KeychaindModel
package import SecretServiceClient

/// Unlocks items for one call of a `SecItem` function.
///
/// Apple's systems ask at each call, unless the program's context was authenticated before. So the grants for a call
/// are returned after it (decision 0043).
final class ItemUnlocking {
    private enum State {
        case unused
        /// The provider supports authentication.
        case context(ProviderContext)
        /// The provider does not; it unlocks items for all programs.
        case none
    }

    private let client: SecretClient
    private let query: ItemQuery
    /// The operation on the items; nil for reading.
    private let action: ProviderContext.Action?
    private var state = State.unused
    private var opened: Set<SecretItem> = []

    private init(_ client: SecretClient, _ query: ItemQuery, to action: ProviderContext.Action?) {
        self.client = client
        self.query = query
        self.action = action
    }

    /// Runs a call, and returns its grants afterwards.
    ///
    /// - Parameter action: the operation, for which a person is asked; nil for reading.
    static func during<Result>(
        _ query: ItemQuery,
        to action: ProviderContext.Action? = nil,
        on client: SecretClient,
        _ call: (ItemUnlocking) async throws(SecretServiceError) -> Result
    ) async throws(SecretServiceError) -> Result {
        let unlocking = ItemUnlocking(client, query, to: action)
        do throws(SecretServiceError) {
            let result = try await call(unlocking)
            await unlocking.close()
            return result
        } catch {
            await unlocking.close()
            throw error
        }
    }

    // MARK: Opening

    /// Unlocks the locked matches in one step; returns the usable ones.
    ///
    /// - Parameter allAreNeeded: whether to fail if some stay locked; otherwise, only if all do.
    func open(_ matches: [Match], allAreNeeded: Bool) async throws(SecretServiceError) -> [Match] {
        // The grants of the program's context are for reading; other operations need their own.
        let asksForAll = action != nil && query.context != nil
        let locked = matches.filter { asksForAll || $0.isLocked }.map(\.item)
        guard !locked.isEmpty else { return matches }
        let opened = try await unlock(locked)
        let open = matches.filter { !$0.isLocked || opened.contains($0.item) }
        switch query.interaction {
        case .skip:
            return open
        case .fail:
            guard open.count == matches.count else {
                throw SecretServiceError(.interactionNotAllowed, "a person must be asked")
            }
        case .ask:
            guard open.count == matches.count || !allAreNeeded && !open.isEmpty else {
                throw SecretServiceError(.locked, "the provider did not unlock the items")
            }
        }
        return open
    }

    /// Performs an operation on an item; if it is locked, unlocks it and tries once more.
    func using<Result>(
        _ item: SecretItem,
        _ operation: () async throws(SecretServiceError) -> Result
    ) async throws(SecretServiceError) -> Result {
        try await using([item], operation)
    }

    /// Does the same with several items, which are unlocked together.
    func using<Result>(
        _ items: [SecretItem],
        _ operation: () async throws(SecretServiceError) -> Result
    ) async throws(SecretServiceError) -> Result {
        do throws(SecretServiceError) {
            return try await operation()
        } catch  where error.code == .locked {
            guard try await unlock(items).isSuperset(of: items) else { throw error }
            return try await operation()
        }
    }

    /// Unlocks items, without asking a person if that is forbidden.
    func unlock(_ items: [SecretItem]) async throws(SecretServiceError) -> Set<SecretItem> {
        guard query.mayAsk || query.context != nil else { return [] }
        guard let context = try await context() else {
            guard query.mayAsk else { return [] }
            return Set(try await client.unlock(items, prompting: query.prompting))
        }
        do throws(SecretServiceError) {
            let unlocked =
                if let action {
                    try await context.authorize(action, items, prompting: query.prompting)
                } else {
                    try await context.unlock(items, prompting: query.prompting)
                }
            opened.formUnion(unlocked)
            return Set(unlocked)
        } catch  where error.code == .interactionNotAllowed {
            return []
        }
    }

    private func context() async throws(SecretServiceError) -> ProviderContext? {
        switch state {
        case .context(let context): return context
        case .none: return nil
        case .unused: break
        }
        let found: ProviderContext?
        if let source = query.context {
            found = try await source.context(on: client, reason: query.operationPrompt)
        } else {
            found = try await client.makeAuthenticationContext()
            var settings = ProviderContext.Settings()
            settings.reason = query.operationPrompt
            // Asks only for this call.
            settings.reuse = .zero
            try await found?.apply(settings)
        }
        state = found.map(State.context) ?? .none
        return found
    }

    // MARK: Closing

    /// Returns the grants, of items with access control only: locking another item would lock its collection.
    private func close() async {
        guard !opened.isEmpty else { return }
        var granted: [SecretItem] = []
        for item in opened {
            guard let attributes = try? await item.attributes() else { continue }
            if (try? Protection(of: Attributes(attributes)))?.policy != nil { granted.append(item) }
        }
        guard !granted.isEmpty else { return }
        // A grant that stays ends by itself.
        try? await client.lock(granted, prompting: .never)
    }
}

/// The value of ``kSecUseAuthenticationContext``: an `LAContext`, whose module depends on this one.
package protocol AuthenticationContextSource: AnyObject, Sendable {
    /// The current settings; read on the caller's thread, since a subclass may run the program's code.
    var snapshot: any AuthenticationSnapshot { get }
}

/// A snapshot of a program's authentication context at the start of a call.
package protocol AuthenticationSnapshot: Sendable {
    /// Whether the program has not invalidated the context.
    var isUsable: Bool { get }

    /// Whether a person may be asked.
    var isInteractionAllowed: Bool { get }

    /// Whether the program supplied an application password.
    var hasCredential: Bool { get }

    /// Whether the settings have a reason to show.
    var hasReason: Bool { get }

    /// The provider's context with these settings; nil from a provider without authentication.
    ///
    /// Throws if the program invalidated the context.
    ///
    /// - Parameter reason: the reason to show, unless the settings have one.
    func context(on client: SecretClient, reason: String) async throws(SecretServiceError) -> ProviderContext?
}

extension ItemUnlocking {
    /// The bytes of a key; throws ``SecretServiceError/Code/notSupported`` for one that is only used.
    func secret(ofKey item: SecretItem) async throws(SecretServiceError) -> [UInt8] {
        do throws(SecretServiceError) {
            return try await using(item) { () throws(SecretServiceError) in
                try await item.secret(prompting: .never).bytes
            }
        } catch  where error.code == .accessDenied && error.authenticationErrorName == nil {
            throw SecretServiceError(.notSupported, "the key cannot be exported", errorName: error.errorName)
        }
    }
}
