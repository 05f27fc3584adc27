import Authentication
import DBus
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Asks a person for what the policies of items need, and grants the caller those for which it was proved.
@BusActor
final class ItemAuthentication {
    private let caller: Caller
    private let settings: AuthenticationSettings
    private let given: GivenPasscode?
    private unowned let provider: Provider
    /// What was proved here last, apart from what is one item's own.
    private(set) var proof: ContextProof?

    /// - Parameter given: the passcode, if it was given just before; it is not asked for again.
    init(
        for caller: Caller,
        _ settings: AuthenticationSettings = AuthenticationSettings(),
        given: GivenPasscode? = nil,
        provider: Provider
    ) {
        self.caller = caller
        self.settings = settings
        self.given = given
        self.provider = provider
    }

    /// Asks for one group after the other, and stops at the first that comes to nothing: who dismisses one dialog does not want to
    /// see the next.
    func run(_ items: [ProtectedItem], asking conversation: Conversation) async throws(AuthenticationError) {
        for group in ItemGroup.groups(of: items, in: provider.vault) {
            try await authenticate(group, asking: conversation)
        }
    }

    private func authenticate(_ group: ItemGroup, asking conversation: Conversation) async throws(AuthenticationError) {
        guard let first = group.items.first else { return }
        let passcodeCollection = group.passcodeCollection(in: provider.vault)
        let passcode = VaultPasscode(provider.vault, for: passcodeCollection)
        defer { passcode.forget() }
        let hasOwnPassword = group.policy.factors.contains(.applicationPassword)
        let ownPassword = hasOwnPassword ? ApplicationPassword(of: first, after: passcode) : nil
        var purpose = AuthenticationPurpose(caller: caller, labels: group.items.map(\.label), settings: settings)
        purpose.keychain = passcodeCollection?.label
        let request = EvaluationRequest(
            await first.requirement(with: provider.biometry, in: provider.vault),
            proved: await proof(by: given, for: group, passcode),
            isInteractionAllowed: settings.allowsInteraction,
            message: purpose.message
        )
        let evaluation = provider.evaluator.evaluate(
            request,
            passcode: passcode,
            applicationPassword: ownPassword,
            asking: provider.dialog(for: purpose, in: conversation)
        )
        let outcome = await evaluation.outcome()
        for item in group.items {
            provider.audit.authenticated(item.id, in: item.collection, for: caller, outcome)
        }
        switch outcome {
        case .satisfied(let proofs):
            // A password of an item's own proves something for that only.
            proof = ContextProof(
                factors: proofs.factors.union(request.proved).subtracting(.applicationPassword),
                matchedSet: proofs.matchedSet,
                passcode: passcode.key
            )
            for item in group.items {
                await grant(item, passcode.key, ownPassword?.key, conversation)
            }
        case .failed(let error):
            throw error
        }
    }

    /// What the passcode that was given before proves for items; if they are sealed it has to open them, too.
    private func proof(by given: GivenPasscode?, for group: ItemGroup, _ passcode: VaultPasscode) async -> FactorSet {
        guard let given, given.isThere, group.policy.factors.contains(.passcode) else { return [] }
        guard group.items.contains(where: \.isSealed) else { return .passcode }
        guard let password = given.copy(), case .right = await passcode.verify(password) else { return [] }
        return .passcode
    }

    /// Grants an item, with its key if it is sealed, which has to be obtained now.
    private func grant(
        _ item: ProtectedItem,
        _ passcode: PasscodeKey?,
        _ ownKey: ItemKey?,
        _ conversation: Conversation
    ) async {
        var key = ownKey
        if item.isSealed, key == nil {
            do throws(VaultError) {
                key = try await item.collection.itemKey(of: item.id, passcode: passcode, applicationPassword: nil)
            } catch {
                return provider.logger.error(
                    "An item could not be opened after its authentication",
                    metadata: ["item": "\(item.collection.name)/\(item.id)", "reason": "\(error)"]
                )
            }
        }
        // The prompt may have been dismissed after the answer, and the item may ask for something else by now.
        guard !conversation.isEnded, item.collection.protection(of: item.id).policy == item.policy else { return }
        provider.access.grant(item.reference, to: caller, for: settings.grantReuse, key: key)
    }
}
