import Authentication
import DBus
import Desktop
import KeychainModel
import Vault

/// What contexts are answered, and evaluated for.
extension Provider {
    func makeConversation(for caller: String, windowID: String = "") -> Conversation {
        questions.makeConversation(for: caller, windowID: windowID)
    }

    /// The dialog of an evaluation, in a conversation that goes on after it.
    func dialog(for purpose: AuthenticationPurpose, in conversation: Conversation) -> ConversationDialog {
        ConversationDialog(conversation, in: questions, words: purpose.words(windowID: conversation.windowID))
    }

    /// Makes a context; throws `LimitsExceeded` if the caller has too many.
    func createContext(for name: String) async throws(BusError) -> AuthenticationContext {
        let context = AuthenticationContext(of: await callers.caller(name))
        // Nobody would end a context that was made for a caller who left meanwhile.
        guard isPresent(name) else { throw BusError(.noReply, "the caller has left the bus") }
        try contexts.insert(context)
        return context
    }

    /// Has a person prove a policy, for no item.
    func evaluate(
        _ policy: Policy,
        _ settings: AuthenticationSettings,
        for caller: Caller,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> ContextProof {
        let passcode = VaultPasscode(vault)
        defer { passcode.forget() }
        var purpose = AuthenticationPurpose(caller: caller, labels: [], settings: settings)
        purpose.scope = ProofScope(of: policy, for: settings.reuse)
        let request = EvaluationRequest(
            await requirement(of: policy),
            isInteractionAllowed: settings.allowsInteraction,
            message: purpose.message
        )
        let dialog = dialog(for: purpose, in: conversation)
        let outcome = await evaluator.evaluate(request, passcode: passcode, asking: dialog).outcome()
        audit.authenticated(policy, for: caller, outcome)
        switch outcome {
        case .satisfied(let proofs):
            return ContextProof(factors: proofs.factors, matchedSet: proofs.matchedSet, passcode: passcode.key)
        case .failed(let error): throw error
        }
    }

    /// Why a policy could not be satisfied now, if so, and whether there is a reader.
    func obstacle(to policy: Policy, for caller: String) async -> (error: AuthenticationError?, hasReader: Bool) {
        let verdict = await evaluator.verdict(
            on: await requirement(of: policy),
            isPasscodeSet: vault.hasPasscode,
            hasPrompter: await questions.isAvailable(for: caller)
        )
        let hasReader =
            switch await biometry.availability() {
            case .available, .notEnrolled, .failed: true
            case .notAvailable, .disconnected: false
            }
        if case .denied(let error) = verdict { return (error, hasReader) }
        return (nil, hasReader)
    }

    /// Without an item the fingers that are enrolled now are those that count.
    private func requirement(of policy: Policy) async -> Requirement {
        guard policy.factors.contains(.biometryCurrentSet) else { return Requirement(policy: policy) }
        return Requirement(policy: policy, boundSet: await biometry.availability().set)
    }

    /// A hash over the enrolled fingers that is another one for each application; empty if no finger can be matched.
    ///
    /// It is a code under a key of the user's: what fingers are enrolled cannot be told from it. A caller of whom it cannot be
    /// told which application it is has one of its own for as long as it is connected.
    func domainState(for caller: String) async throws(BusError) -> [UInt8] {
        guard let set = await biometry.availability().set else { return [] }
        let identity = await callers.caller(caller).applicationIdentity ?? caller
        do throws(VaultError) {
            return try vault.code(of: "domain state", Array(identity.utf8), set.hash)
        } catch {
            throw BusError(error)
        }
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
