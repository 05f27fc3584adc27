import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault

/// Asks a person whether a program may use items, as a rule says.
///
/// A click suffices in a dialog that is trusted; elsewhere, where a program might click, the passcode is asked for.
@BusActor
struct ItemConfirmation {
    let client: Client
    let caller: Caller
    let settings: AuthenticationSettings
    let authenticator: Authenticator

    fileprivate enum Answer {
        case allowed
        /// The person has also chosen "Always for This Program".
        case always
        case failed(AuthenticationError)
    }

    /// Asks about as many items as one dialog can name, then about the next, until one is refused.
    func run(_ items: [ProtectedItem], asking conversation: Conversation) async {
        for part in ItemNames.parts(of: items, name: \.name) {
            // An earlier dialog may have taken long.
            let part = part.map(\.current).filter(isAsked)
            guard !part.isEmpty else { continue }
            let answer = await ask(part, asking: conversation)
            for item in part {
                authenticator.audit.authenticated(to: .use, item.id, in: item.collection, for: caller, answer.outcome)
            }
            switch answer {
            case .failed: return
            case .allowed: break
            case .always: await always?.accept(for: part, by: authenticator)
            }
            guard !conversation.isEnded else { return }
            for item in part where isAsked(item) && item.collection.revision(of: item.id) == item.revision {
                give(item)
            }
        }
    }

    private var access: ItemAccess { authenticator.access }

    private func isAsked(_ item: ProtectedItem) -> Bool {
        access.asksPerson(about: item.id, in: item.collection, for: client)
    }

    private func ask(_ items: [ProtectedItem], asking conversation: Conversation) async -> Answer {
        guard settings.allowsInteraction else {
            return .failed(AuthenticationError(.notInteractive, reason: "the program forbids dialogs"))
        }
        var purpose = AuthenticationPurpose(caller: caller, names: items.map(\.name), settings: settings)
        purpose.keychains = items.keychainLabels
        do throws(PromptError) {
            let question = request(for: items, purpose, in: conversation)
            switch try await conversation.ask(question, keepsOpenWithoutTrust: true) {
            case .confirmed: return conversation.hasChosen ? .always : .allowed
            case .withdrawn: return .failed(AuthenticationError(conversation.cancellation ?? .byProgram))
            case .cancelled: return .failed(AuthenticationError(.userCancel, reason: "the person refused"))
            default: return .failed(AuthenticationError(.userCancel, reason: "that was not asked for"))
            }
        } catch  where error.code == .notTrusted {
            return await authenticate(purpose, asking: conversation)
        } catch {
            return .failed(AuthenticationError(.notInteractive, reason: error.reason))
        }
    }

    /// Asks for the passcode or a finger.
    private func authenticate(_ purpose: AuthenticationPurpose, asking conversation: Conversation) async -> Answer {
        let passcode = VaultPasscode(authenticator.vault)
        defer { passcode.forget() }
        let request = EvaluationRequest(Requirement(policy: Constraint.userPresence.policy))
        let words = purpose.words(windowID: conversation.windowID)
        let evaluator = authenticator.evaluator
        switch await evaluator.evaluate(request, passcode: passcode, asking: conversation, words).outcome() {
        case .satisfied: return .allowed
        case .failed(let error): return .failed(error)
        }
    }

    private func request(
        for items: [ProtectedItem],
        _ purpose: AuthenticationPurpose,
        in conversation: Conversation
    ) -> PromptRequest {
        let words = purpose.words(windowID: conversation.windowID)
        let asksOnce = items.allSatisfy { item in
            access.rules.decision(on: item.id, in: item.collection, for: client).action == .askOnce
        }
        let consequence =
            asksOnce
            ? Text("One of your rules says to ask, and not again until the screen is locked.")
            : Text("One of your rules says to ask every time.")
        return conversation.request(
            .confirmation,
            title: Text("Use of an Item"),
            words.message,
            [words.circumstances, words.reason, consequence],
            button: Text("Allow"),
            choice: always.map { _ in AlwaysOffer.choice },
            for: caller
        )
    }

    // MARK: Answers

    private var always: AlwaysOffer? { AlwaysOffer(to: caller) }

    private func give(_ item: ProtectedItem) {
        if access.rules.decision(on: item.id, in: item.collection, for: client).action == .askOnce {
            access.rules.remember(item.reference, for: client)
            client.lockChanged(of: item.reference, to: false)
        } else {
            client.grant(item.reference, ItemGrant(to: caller.auditText, key: nil), for: settings.grantReuse)
        }
    }
}

extension ItemConfirmation.Answer {
    /// The answer in the audit.
    fileprivate var outcome: EvaluationOutcome {
        switch self {
        case .allowed, .always: .satisfied(.none)
        case .failed(let error): .failed(error)
        }
    }
}
