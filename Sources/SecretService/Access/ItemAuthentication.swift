import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Asks a person for what the policies of items need, and gives the caller what it was asked for: grants to use them, or
/// authorisations for something else.
@BusActor
final class ItemAuthentication {
    /// What takes note of what was proved; nil without one.
    let context: AuthenticationContext?

    /// What may be done, if it was asked for anything but use.
    private(set) var authorizations: [ItemAuthorization] = []

    private let action: ItemAction
    private let client: Client
    private let caller: Caller
    private let settings: AuthenticationSettings
    private let authenticator: Authenticator
    /// How often the context's proofs had been ended when this began: what is proved after another time is not recorded.
    private let endings: Int?

    /// - Parameters:
    ///   - action: what the caller wants of the items.
    ///   - context: also says how it is to look, as it does at this moment.
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

    /// What a dialog says that asks for items by a policy.
    func purpose(of items: [ProtectedItem], by policy: Policy, keychain: String? = nil) -> AuthenticationPurpose {
        var purpose = AuthenticationPurpose(
            caller: caller,
            action: action,
            labels: items.map(\.label),
            settings: settings
        )
        purpose.keychain = keychain
        // Without a time of reuse a context keeps nothing of what is proved for items: it is used up by them.
        // A yes to a change or a deletion opens nothing beside it.
        if context != nil, action == .use, settings.reuse > .zero {
            let scope = ProofScope(of: policy, for: settings.reuse, hasOwnPasscode: keychain != nil)
            if !scope.factors.isEmpty { purpose.scope = scope }
        }
        return purpose
    }

    /// Asks for one group after the other, and stops at the first that comes to nothing: who dismisses one dialog does not want to
    /// see the next.
    ///
    /// - Parameter named: items for which the passcode was given just before, if it was; for these it is not asked for again.
    func run(
        _ items: [ProtectedItem],
        given named: NamedItems? = nil,
        asking conversation: Conversation
    ) async throws(AuthenticationError) {
        let isNamed = { (item: ProtectedItem) in named?.contains(item) ?? false }
        for group in ItemGroup.groups(of: items.filter(isNamed), in: authenticator.vault) {
            try await authenticate(group, given: named?.passcode, asking: conversation)
        }
        for group in ItemGroup.groups(of: items.filter { !isNamed($0) }, in: authenticator.vault) {
            try await authenticate(group, given: nil, asking: conversation)
        }
    }

    private func authenticate(
        _ group: ItemGroup,
        given: GivenPasscode?,
        asking conversation: Conversation
    ) async throws(AuthenticationError) {
        // As they are now that the dialog names them, which the dialog before this one may have delayed.
        let group = group.current
        guard let first = group.items.first else { return }
        let passcodeCollection = group.passcodeCollection(in: authenticator.vault)
        let passcode = VaultPasscode(
            authenticator.vault,
            for: passcodeCollection,
            countedBy: passcodeCollection.flatMap { authenticator.lockouts.keeper(of: $0, for: .people) }
        )
        defer { passcode.forget() }
        let hasOwnPassword = group.policy.factors.contains(.applicationPassword)
        let lockouts = authenticator.lockouts
        let ownPassword =
            hasOwnPassword ? ApplicationPassword(of: first, after: passcode, countedBy: lockouts) : nil
        let purpose = purpose(of: group.items, by: group.policy, keychain: passcodeCollection?.label)
        let request = EvaluationRequest(
            await first.requirement(with: authenticator.biometry, in: authenticator.vault),
            proved: await proof(by: given, for: group, passcode),
            isInteractionAllowed: settings.allowsInteraction,
            message: purpose.message
        )
        let evaluation = authenticator.evaluator.evaluate(
            request,
            passcode: passcode,
            applicationPassword: ownPassword,
            asking: conversation,
            purpose.words(windowID: conversation.windowID)
        )
        let outcome = await evaluation.outcome()
        for item in group.items {
            authenticator.audit.authenticated(to: action, item.id, in: item.collection, for: caller, outcome)
        }
        switch outcome {
        case .satisfied(let proofs):
            record(proofs, request.proved, passcode.key, purpose.scope, conversation)
            for item in group.items {
                // Not longer than the dialog has said.
                let reuse = purpose.scope.map { min($0.reuse, settings.grantReuse) } ?? settings.grantReuse
                await give(item, for: reuse, passcode.key, ownPassword?.key, conversation)
            }
        case .failed(let error):
            throw error
        }
    }

    /// Has the context keep what was proved, as far as the person was told; not if the talk or the context's proofs have ended
    /// meanwhile, as when the screen was locked.
    private func record(
        _ proofs: Proofs,
        _ given: FactorSet,
        _ passcode: PasscodeKey?,
        _ scope: ProofScope?,
        _ conversation: Conversation
    ) {
        guard let context, let scope, !conversation.isEnded, context.endings == endings else { return }
        // An enrolled finger is proved as such, whatever set of fingers was asked for.
        let factors = proofs.factors.union(given)
        let counting = scope.factors.contains(.passcode) ? factors : factors.subtracting(.passcode)
        let proof = ContextProof(
            factors: counting.subtracting(.applicationPassword),
            matchedSet: proofs.matchedSet,
            passcode: passcode
        )
        context.record(proof, for: scope.reuse)
    }

    /// What the passcode that was given before proves for items; if they are sealed it has to open them, too.
    private func proof(by given: GivenPasscode?, for group: ItemGroup, _ passcode: VaultPasscode) async -> FactorSet {
        guard let given, given.isThere, group.policy.factors.contains(.passcode),
            // Locking the keychain that it has unlocked ends what it proves.
            authenticator.vault.collection(named: .login)?.isLocked == false
        else { return [] }
        guard group.items.contains(where: \.isSealed) else { return .passcode }
        guard let password = given.copy(), await passcode.verify(password) == .right else { return [] }
        return .passcode
    }

    /// Gives what was asked for of an item, with its key if it is sealed, which has to be obtained now.
    private func give(
        _ item: ProtectedItem,
        for reuse: Duration,
        _ passcode: PasscodeKey?,
        _ ownKey: ItemKey?,
        _ conversation: Conversation
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
        // The prompt may have been dismissed after the answer, the keychain locked, and the item changed by now.
        guard !conversation.isEnded, authenticator.access.isUnchanged(item) else { return }
        guard action != .use else { return authenticator.access.grant(item, to: client, caller, for: reuse, key: key) }
        let authorization = ItemAuthorization(item: item, key: key, parts: action.parts, context: context)
        authorizations.append(authorization)
        if let context, context.endings == endings { context.keep(authorization) }
    }
}
