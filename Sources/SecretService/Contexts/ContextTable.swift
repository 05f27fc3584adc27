import Authentication
import DBus
import KeychainModel

/// The contexts of all callers.
struct ContextTable {
    private var contexts: [ObjectNumber: AuthenticationContext] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a context; throws `LimitsExceeded` if its owner has too many.
    @BusActor
    mutating func insert(_ context: AuthenticationContext) throws(BusError) {
        guard numbers(of: context.owner).count < limit else {
            throw BusError(.limitsExceeded, "you already have \(limit) open contexts")
        }
        contexts[context.number] = context
    }

    /// The context, if it is the caller's: somebody else's does not exist for them.
    @BusActor
    func context(_ number: ObjectNumber, of caller: String) -> AuthenticationContext? {
        guard let context = contexts[number], context.owner == caller else { return nil }
        return context
    }

    @BusActor
    func numbers(of owner: String) -> [ObjectNumber] {
        contexts.values.filter { $0.owner == owner }.map(\.number)
    }

    /// Takes what was allowed in a context of a caller's.
    @BusActor
    func takeAuthorization(for parts: ItemParts, of item: ItemReference, by owner: String) -> ItemAuthorization? {
        for context in contexts.values where context.owner == owner {
            if let authorization = context.takeAuthorization(for: parts, of: item) { return authorization }
        }
        return nil
    }

    /// Gives up what was allowed for an item in the contexts of a caller.
    @BusActor
    func endAuthorizations(of item: ItemReference, by owner: String) {
        for context in contexts.values where context.owner == owner { context.endAuthorization(of: item) }
    }

    /// Gives up what was allowed for the items of a collection.
    @BusActor
    func endAuthorizations(in collection: CollectionName) {
        for context in contexts.values { context.endAuthorizations(in: collection) }
    }

    @BusActor
    mutating func remove(_ context: AuthenticationContext) {
        contexts[context.number] = nil
    }

    /// Ends what was proved in all contexts, and what is being proved.
    @BusActor
    func endProofs(_ withdrawal: Withdrawal) {
        for context in contexts.values {
            context.endProofs(withdrawal)
        }
    }

    /// Ends all contexts of a connection that has gone.
    @BusActor
    mutating func removeAll(of owner: String) {
        for (number, context) in contexts where context.owner == owner {
            context.invalidate()
            contexts[number] = nil
        }
    }
}
