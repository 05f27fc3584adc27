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
    /// What was proved here, apart from what is one item's own.
    private(set) var proved = Proofs.none

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
        let passcode = VaultPasscode(provider.vault, for: group.passcodeCollection(in: provider.vault))
        defer { passcode.forget() }
        let ownPassword = group.items.first.flatMap { item in
            group.policy.factors.contains(.applicationPassword) ? ApplicationPassword(of: item, after: passcode) : nil
        }
        let known = await proof(by: given, for: group, passcode)
        if group.policy.isSatisfied(by: known) {
            proved = Proofs(factors: known)
        } else {
            let factors = try await evaluate(group, passcode, ownPassword, asking: conversation)
            // An application password proves something for its item only.
            proved = Proofs(factors: factors.subtracting(.applicationPassword))
        }
        for item in group.items where !conversation.isEnded {
            await grant(item, passcode.key, ownPassword?.key)
        }
    }

    /// What the passcode that was given before proves for items; if they are sealed it has to open them, too.
    private func proof(by given: GivenPasscode?, for group: ItemGroup, _ passcode: VaultPasscode) async -> FactorSet {
        guard let given, given.isThere, group.policy.factors.contains(.passcode) else { return [] }
        guard group.items.contains(where: \.isSealed) else { return .passcode }
        guard let password = given.copy(), case .right = await passcode.verify(password) else { return [] }
        return .passcode
    }

    /// Grants an item, whose key is had now or never if it is sealed.
    private func grant(_ item: ProtectedItem, _ passcode: PasscodeKey?, _ key: ItemKey?) async {
        var key = key
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
        provider.access.grant(item.reference, to: caller, for: settings.reuse, key: key)
    }

    /// Has the passwords given that one alternative of the policy asks for.
    private func evaluate(
        _ group: ItemGroup,
        _ passcode: VaultPasscode,
        _ ownPassword: ApplicationPassword?,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> FactorSet {
        guard let wanted = group.policy.alternatives.first(where: { $0.isSubset(of: .keys) }) else {
            throw AuthenticationError(.biometryNotAvailable, reason: "there is no reader")
        }
        if wanted.contains(.passcode) { try await ask(group, for: passcode, conversation) }
        if wanted.contains(.applicationPassword), let ownPassword {
            try await ask(group, for: ownPassword, conversation)
        }
        return wanted
    }

    private func ask(
        _ group: ItemGroup,
        for password: any Passcode,
        _ conversation: Conversation
    ) async throws(AuthenticationError) {
        var request = PromptRequest(
            question: .password,
            title: "Authentication",
            message: "Authenticate to use \(ItemNames.list(group.items.map(\.label)))",
            description: settings.reason,
            windowID: conversation.windowID
        )
        while true {
            switch await password.verify(try await answer(to: request, in: conversation)) {
            case .right: return
            case .wrong: request.warning = "That password was not right."
            case .failed(let reason): throw AuthenticationError(.systemCancel, reason: reason)
            }
        }
    }

    private func answer(
        to request: PromptRequest,
        in conversation: Conversation
    ) async throws(AuthenticationError) -> SecureBytes {
        let answer: PromptAnswer
        do throws(PromptError) {
            answer = try await conversation.ask(request)
        } catch {
            let code: AuthenticationError.Code = error.code == .unavailable ? .notInteractive : .systemCancel
            throw AuthenticationError(code, reason: error.reason)
        }
        switch consume answer {
        case .password(let password): return password
        case .withdrawn: throw AuthenticationError(.appCancel, reason: "the question was taken back")
        case .fallback: throw AuthenticationError(.userFallback, reason: "another way is wanted")
        case .confirmed: throw AuthenticationError(.userCancel, reason: "there is no password")
        case .cancelled: throw AuthenticationError(.userCancel, reason: "the dialog was cancelled")
        }
    }
}
