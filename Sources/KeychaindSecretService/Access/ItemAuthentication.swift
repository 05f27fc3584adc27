import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Authenticates a person by the policies of items, and gives the caller grants to use them, or authorisations for
/// another action.
@BusActor
final class ItemAuthentication {
    /// The context that records the proofs, if any.
    let context: AuthenticationContext?

    /// The authorisations given, unless the action is use.
    private(set) var authorizations: [ItemAuthorization] = []

    private let action: ItemAction
    private let client: Client
    private let caller: Caller
    private let settings: AuthenticationSettings
    private let authenticator: Authenticator
    /// The context's count of ended proofs at the start; after a change of it, nothing is recorded.
    private let endings: Int?

    /// - Parameter context: also sets the appearance of the dialogs, as configured at this moment.
    init(
        to action: ItemAction = .use,
        for client: Client,
        _ caller: Caller,
        in context: AuthenticationContext? = nil,
        by authenticator: Authenticator
    ) {
        self.action = action
        self.client = client
        self.caller = caller
        self.context = context
        self.authenticator = authenticator
        settings = context?.settings ?? AuthenticationSettings()
        endings = context?.endings
    }

    /// The purpose in the dialog for items under one policy.
    func purpose(of items: [ProtectedItem], by policy: Policy) -> AuthenticationPurpose {
        var purpose = AuthenticationPurpose(caller: caller, names: items.map(\.name), settings: settings)
        purpose.action = action
        purpose.keychains = items.keychainLabels
        // Without a reuse time, a context keeps no proof: the items use it up. Approval of a deletion or of another
        // protection covers nothing else.
        if context != nil, action == .use || action == .change, settings.reuse > .zero {
            var scope = ProofScope(of: policy, for: settings.reuse)
            scope.allowsChanges = action == .change
            if !scope.factors.isEmpty { purpose.scope = scope }
        }
        return purpose
    }

    /// Asks for each group in turn, until one fails: a person who dismisses a dialog does not want the next.
    ///
    /// - Parameter named: the items for which the passcode was given just before; it is not asked for again.
    func run(
        _ items: [ProtectedItem],
        given named: NamedItems? = nil,
        asking conversation: Conversation
    ) async throws(AuthenticationError) {
        for isNamed in [true, false] {
            let groups = ItemGroup.groups(of: items) { item in (named?.contains(item) ?? false) == isNamed }
            for part in groups.lazy.flatMap(\.parts) {
                try await authenticate(part, given: isNamed ? named?.passcode : nil, asking: conversation)
            }
        }
    }

    private func authenticate(
        _ group: ItemGroup,
        given: KeptPassword?,
        asking conversation: Conversation
    ) async throws(AuthenticationError) {
        // An earlier dialog may have taken long; this one names the items as they are when it opens.
        let group = group.current
        guard let first = group.items.first else { return }
        let passcode = VaultPasscode(authenticator.vault)
        defer { passcode.forget() }
        let hasOwnPassword = group.policy.factors.contains(.applicationPassword)
        let lockouts = authenticator.lockouts
        let ownPassword =
            hasOwnPassword ? ApplicationPassword(of: first, after: passcode, countedBy: lockouts) : nil
        var purpose = purpose(of: group.items, by: group.policy)
        let always = action == .use ? AlwaysOffer(to: caller, of: group.items) : nil
        purpose.choice = always.map { _ in AlwaysOffer.choice }
        var request = EvaluationRequest(
            await first.requirement(with: authenticator.biometry, in: authenticator.vault),
            proved: await proof(by: given, for: group, passcode),
            isInteractionAllowed: settings.allowsInteraction
        )
        request.freesReader = true
        let evaluation = authenticator.evaluator.evaluate(
            request,
            passcode: passcode,
            applicationPassword: ownPassword,
            asking: conversation,
            purpose.words(windowID: conversation.windowID)
        )
        let outcome = await evaluation.outcome()
        let moment = authenticator.access.moment(in: authenticator.vault)
        let isByPerson = isByPerson(outcome, in: conversation)
        for item in group.items {
            authenticator.audit.authenticated(
                to: action,
                item.id,
                in: item.collection,
                for: caller,
                outcome,
                isByPerson: isByPerson
            )
        }
        switch outcome {
        case .satisfied(let proofs):
            if evaluation.hasChosen { await always?.accept(for: group.items, by: authenticator) }
            record(proofs, request.proved, passcode.key, purpose.scope, conversation)
            for item in group.items {
                // At most the time that the dialog stated.
                let reuse = purpose.scope.map { min($0.reuse, settings.grantReuse) } ?? settings.grantReuse
                await give(
                    item,
                    for: reuse,
                    passcode.key,
                    ownPassword?.key,
                    conversation,
                    at: moment,
                    isByPerson: isByPerson
                )
            }
        case .failed(let error):
            if error.code == .biometryLockout, evaluation.shownLockout == nil { authenticator.notices.readerIsLocked() }
            throw error
        }
    }

    /// Whether an answer takes a person: a program that has chosen an application password can type it into its own
    /// dialog.
    private func isByPerson(_ outcome: EvaluationOutcome, in conversation: Conversation) -> Bool {
        guard case .satisfied(let proofs) = outcome, proofs.factors == .applicationPassword else { return true }
        return conversation.trustOfAnswer == .trusted
    }

    /// Records in the context the proofs that the dialog announced.
    ///
    /// Does nothing when the conversation or the context's proofs have ended meanwhile, as when the screen was locked.
    private func record(
        _ proofs: Proofs,
        _ given: FactorSet,
        _ passcode: PasscodeKey?,
        _ scope: ProofScope?,
        _ conversation: Conversation
    ) {
        guard let context, let scope, !conversation.isEnded, context.endings == endings else { return }
        // An enrolled finger is proved as such, whichever set of fingers was requested.
        let factors = proofs.factors.union(given)
        let counting = scope.factors.contains(.passcode) ? factors : factors.subtracting(.passcode)
        let proof = ContextProof(
            factors: counting.subtracting(.applicationPassword),
            matchedSet: proofs.matchedSet,
            passcode: passcode,
            allowsChanges: scope.allowsChanges
        )
        context.record(proof, for: scope.reuse)
    }

    /// Returns the factors that an earlier passcode proves; for sealed items it must also open them.
    private func proof(by given: KeptPassword?, for group: ItemGroup, _ passcode: VaultPasscode) async -> FactorSet {
        guard let given, given.isThere, group.policy.factors.contains(.passcode),
            // Locking `login`, which the passcode unlocked, ends the proof.
            authenticator.vault.collection(named: .login)?.isLocked == false
        else { return [] }
        guard group.items.contains(where: \.isSealed) else { return .passcode }
        guard let password = given.copy(), await passcode.verify(password) == .right else { return [] }
        return .passcode
    }

    /// Gives the caller access to an item, with the item key if it is sealed, which must be obtained here.
    private func give(
        _ item: ProtectedItem,
        for reuse: Duration,
        _ passcode: PasscodeKey?,
        _ ownKey: ItemKey?,
        _ conversation: Conversation,
        at moment: AuthorizationMoment,
        isByPerson: Bool
    ) async {
        var key = ownKey
        if item.isSealed, key == nil {
            do throws(VaultError) {
                key = try await item.collection.itemKey(of: item.id, passcode: passcode, applicationPassword: nil)
            } catch {
                return authenticator.logger.error(
                    "An item could not be opened after its authentication",
                    metadata: ["item": "\(item.collection.name)/\(item.id)", "reason": "\(error)"]
                )
            }
        }
        // Meanwhile the prompt may have been dismissed, the keychain locked or the item changed.
        guard !conversation.isEnded, authenticator.access.isUnchanged(item) else { return }
        guard action != .use else {
            let access = authenticator.access
            return access.grant(item, to: client, caller, for: reuse, key: key, isByPerson: isByPerson)
        }
        let authorization = ItemAuthorization(
            item: item,
            key: key,
            parts: action.parts,
            context: context,
            moment: moment
        )
        authorizations.append(authorization)
        if let context, context.endings == endings { context.keep(authorization) }
    }
}
