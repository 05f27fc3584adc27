import KeychainModel
import SecretServiceClient

/// Opens what is locked, for one call of the `SecItem` functions.
///
/// Apple's systems ask at each call, unless the program's context was authenticated before; so what was granted for this call is given
/// back after it.
final class ItemUnlocking {
    private enum State {
        case unused
        /// The provider has contexts.
        case context(AuthenticationContext)
        /// The provider has none: what it unlocks it unlocks for everybody.
        case none
    }

    private let client: SecretClient
    private let query: ItemQuery
    /// What is to be done with the items; nil to use them.
    private let action: AuthenticationContext.Action?
    private var state = State.unused
    private var opened: Set<SecretItem> = []

    private init(_ client: SecretClient, _ query: ItemQuery, to action: AuthenticationContext.Action?) {
        self.client = client
        self.query = query
        self.action = action
    }

    /// Runs a call, and then gives back what it was granted.
    ///
    /// - Parameter action: what is to be done with the items, which a person is asked for; nil to use them.
    static func during<Result>(
        _ query: ItemQuery,
        to action: AuthenticationContext.Action? = nil,
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

    /// Unlocks those matches that are locked, all at once, and gives those that can be used.
    ///
    /// - Parameter allAreNeeded: whether to fail if some stay locked; else only if all do.
    func open(_ matches: [Match], allAreNeeded: Bool) async throws(SecretServiceError) -> [Match] {
        // What the program's context has been granted is for use: anything else is asked for by itself.
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
                throw SecretServiceError(.interactionNotAllowed, "a person would have to be asked")
            }
        case .ask:
            guard open.count == matches.count || !allAreNeeded && !open.isEmpty else {
                throw SecretServiceError(.locked, "the provider did not unlock it")
            }
        }
        return open
    }

    /// Does something with an item, and if it turns out to be locked, once more after unlocking it.
    func using<Result>(
        _ item: SecretItem,
        _ operation: () async throws(SecretServiceError) -> Result
    ) async throws(SecretServiceError) -> Result {
        do throws(SecretServiceError) {
            return try await operation()
        } catch  where error.code == .locked {
            guard try await unlock([item]).contains(item) else { throw error }
            return try await operation()
        }
    }

    /// Unlocks items; what would have to be asked for stays locked if nobody may be asked.
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

    private func context() async throws(SecretServiceError) -> AuthenticationContext? {
        switch state {
        case .context(let context): return context
        case .none: return nil
        case .unused: break
        }
        let found: AuthenticationContext?
        if let source = query.context {
            found = try await source.context(on: client, reason: query.operationPrompt)
        } else {
            found = try await client.makeAuthenticationContext()
            var settings = AuthenticationContext.Settings()
            settings.reason = query.operationPrompt
            // For this call alone, so that nobody is asked for more.
            settings.reuse = .zero
            try await found?.apply(settings)
        }
        state = found.map(State.context) ?? .none
        return found
    }

    // MARK: Closing

    /// Gives back what was granted.
    ///
    /// Only items that need authentication: to lock another one is to lock its collection.
    private func close() async {
        guard !opened.isEmpty, query.context?.keepsGrants != true else { return }
        var granted: [SecretItem] = []
        for item in opened {
            guard let attributes = try? await item.attributes() else { continue }
            if attributes[ReservedAttribute.accessControl.rawValue] != nil { granted.append(item) }
        }
        guard !granted.isEmpty else { return }
        // A grant that could not be given back ends by itself.
        try? await client.lock(granted, prompting: .never)
    }
}
