import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt

/// The open authentication contexts of a client.
struct ClientContexts {
    fileprivate var table: [ObjectNumber: AuthenticationContext] = [:]

    var numbers: some Sequence<ObjectNumber> { table.keys }

    var all: some Sequence<AuthenticationContext> { table.values }

    subscript(number: ObjectNumber) -> AuthenticationContext? { table[number] }
}

extension Client {
    /// Creates a context; throws `LimitsExceeded` past the limit.
    func makeContext() async throws(BusError) -> AuthenticationContext {
        let caller = await self.caller()
        try checkConnected()
        let limit = environment.limits.contexts
        let most = limit * environment.limits.timesForProgram
        guard contexts.table.count < limit, account.count({ $0.contexts.table.count }) < most else {
            throw BusError(.limitsExceeded, "you already have \(limit) open contexts, or your program \(most)")
        }
        let context = AuthenticationContext(of: self, caller, clock: environment.clock)
        contexts.table[context.number] = context
        return context
    }

    /// Ends a context and its prompts.
    func invalidate(_ context: AuthenticationContext) {
        context.invalidate()
        contexts.table[context.number] = nil
        dismissPrompts(of: context)
    }

    /// A copy of the application password of a context of this client; nil if it has none.
    func credential(of path: ObjectPath?) -> SecureBytes? {
        for context in contexts.table.values where path == .context(context.number) { return context.credentialCopy }
        return nil
    }

    /// The context whose authorisation covers parts of an item and meets a condition; does not use it.
    func context(
        authorizing parts: ItemParts,
        of item: ItemReference,
        where isUsable: (ItemAuthorization) -> Bool
    ) -> AuthenticationContext? {
        for context in contexts.table.values {
            if let authorization = context.authorization(for: parts, of: item), isUsable(authorization) {
                return context
            }
        }
        return nil
    }

    /// Takes an authorisation from the contexts; nil if none covers the parts.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        for context in contexts.table.values {
            if let authorization = context.takeAuthorization(for: parts, of: item) { return authorization }
        }
        return nil
    }

    /// Ends the authorisations of matching items.
    func endAuthorizations(where isAffected: (ItemReference) -> Bool) {
        contexts.table.values.forEach { $0.endAuthorizations(where: isAffected) }
    }

    /// Ends the authorisations of an item.
    func endAuthorizations(of item: ItemReference) {
        contexts.table.values.forEach { $0.endAuthorization(of: item) }
    }

    /// Ends all contexts of a client that has left.
    func dropContexts() {
        contexts.table.values.forEach { $0.invalidate() }
        contexts.table = [:]
    }
}

extension PeerTable<Client> {
    func endProofs(_ cancellation: Cancellation) {
        for client in all {
            for context in client.contexts.table.values { context.endProofs(cancellation) }
        }
    }
}
