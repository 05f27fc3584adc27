import Authentication
import DBus
import KeychainModel
import Vault

/// What contexts are answered, and evaluated for.
extension Provider {
    func makeConversation(for caller: String, windowID: String = "") -> Conversation {
        questions.makeConversation(for: caller, windowID: windowID)
    }

    /// Makes a context; throws `LimitsExceeded` if the caller has too many.
    func createContext(for name: String) async throws(BusError) -> AuthenticationContext {
        let context = AuthenticationContext(of: await callers.caller(name))
        // Nobody would end a context that was made for a caller who left meanwhile.
        guard await isPresent(name) else { throw BusError(.noReply, "the caller has left the bus") }
        try contexts.insert(context)
        return context
    }

    /// Has a person prove a policy, for no item.
    func evaluate(
        _ policy: Policy,
        _ settings: AuthenticationSettings,
        for caller: String,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> Proofs {
        throw AuthenticationError(.notInteractive, reason: "not yet")
    }

    /// Why a policy could not be satisfied now, if so, and whether there is a reader.
    func obstacle(to policy: Policy, for caller: String) async -> (error: AuthenticationError?, hasReader: Bool) {
        (nil, false)
    }

    /// A hash over the enrolled fingers that is another one for each application; empty if no finger can be matched.
    func domainState(for caller: String) async throws(BusError) -> [UInt8] {
        []
    }

    /// Ends a context, an evaluation in it, and its prompts.
    func invalidate(_ context: AuthenticationContext) {
        context.invalidate()
        contexts.remove(context)
        for prompt in prompts.prompts(of: context.owner) where prompt.context === context {
            prompt.dismiss()
        }
    }
}
