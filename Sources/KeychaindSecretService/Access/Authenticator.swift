import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault
import Logging

/// Evaluates the policies of items and contexts by asking people.
@BusActor
struct Authenticator {
    let vault: Vault
    let biometry: any Biometry
    let evaluator: Evaluator
    let questions: PromptQueue
    let lockouts: LockoutTable
    let access: ItemAccess
    let audit: AccessAudit
    let notices: Notices
    let logger: Logger

    // MARK: Items

    /// Asks a person to authorise one operation on an item; throws if that fails.
    func authorize(
        _ action: ItemAction,
        _ item: ProtectedItem,
        for client: Client,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> ItemAuthorization {
        let authentication = ItemAuthentication(to: action, for: client, await client.caller(), by: self)
        try await authentication.run([item.current], asking: conversation)
        guard let authorization = authentication.authorizations.first, !conversation.isEnded else {
            throw AuthenticationError(.systemCancel, reason: "the item was changed or locked meanwhile")
        }
        return authorization
    }

    // MARK: Contexts

    /// Has a person prove that they are there, in a dialog with these words.
    func provesPresence(asking conversation: Conversation, _ words: EvaluationWords) async -> Bool {
        let passcode = VaultPasscode(vault)
        defer { passcode.forget() }
        var request = EvaluationRequest(Requirement(policy: Constraint.userPresence.policy))
        request.freesReader = true
        let evaluation = evaluator.evaluate(request, passcode: passcode, asking: conversation, words)
        if case .satisfied = await evaluation.outcome() { return true }
        return false
    }

    /// Whether a context has proved a policy in a dialog that announced what an evaluation does.
    func isProved(_ policy: Policy, in context: AuthenticationContext) async -> Bool {
        guard context.allowsChanges else { return false }
        return context.hasProved(await requirement(of: policy))
    }

    /// Asks a person to satisfy the policy of a context.
    func evaluate(
        _ policy: Policy,
        _ settings: AuthenticationSettings,
        in context: AuthenticationContext,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> ContextProof {
        let passcode = VaultPasscode(vault)
        defer { passcode.forget() }
        var purpose = AuthenticationPurpose(caller: context.caller, names: [], settings: settings)
        var scope = ProofScope(of: policy, for: settings.reuse)
        // A single use is one of reading.
        scope.allowsChanges = settings.reuse > .zero
        purpose.scope = scope
        let request = EvaluationRequest(
            await requirement(of: policy),
            isInteractionAllowed: settings.allowsInteraction
        )
        let words = purpose.words(windowID: conversation.windowID)
        let outcome = await evaluator.evaluate(request, passcode: passcode, asking: conversation, words).outcome()
        audit.authenticated(policy, for: context.caller, outcome)
        switch outcome {
        case .satisfied(let proofs):
            return ContextProof(
                factors: proofs.factors,
                matchedSet: proofs.matchedSet,
                passcode: passcode.key,
                allowsChanges: scope.allowsChanges
            )
        case .failed(let error): throw error
        }
    }

    /// The reason why a policy cannot be satisfied, and whether there is a fingerprint reader.
    func obstacle(to policy: Policy, for client: Client) async -> (error: AuthenticationError?, hasReader: Bool) {
        let verdict = await evaluator.verdict(
            on: await requirement(of: policy),
            isPasscodeSet: vault.hasPasscode,
            prompterTrust: await questions.expectedTrust(for: client)
        )
        let hasReader =
            switch await biometry.availability() {
            case .available, .notEnrolled, .failed: true
            case .notAvailable, .disconnected: false
            }
        if case .denied(let error) = verdict { return (error, hasReader) }
        return (nil, hasReader)
    }

    /// The requirement of a policy; without an item, the enrolled fingers count as the current set.
    private func requirement(of policy: Policy) async -> Requirement {
        guard policy.factors.contains(.biometryCurrentSet) else { return Requirement(policy: policy) }
        return Requirement(policy: policy, boundSet: await biometry.availability().set)
    }

    /// A code over the enrolled fingers, different for each application; empty if no finger can be matched.
    ///
    /// Its key belongs to the user, so that it does not reveal the fingers. For an unknown application, the code
    /// lasts as long as the connection.
    func domainState(for client: Client) async throws(BusError) -> [UInt8] {
        guard let set = await biometry.availability().set else { return [] }
        let identity = await client.caller().applicationIdentity ?? client.name
        return try translatingErrors { () throws(VaultError) in
            try vault.code(of: "domain state", Array(identity.utf8), set.hash)
        }
    }
}
