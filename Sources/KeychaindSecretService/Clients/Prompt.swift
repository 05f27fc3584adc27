import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault

/// An operation that needs a person, run by the client that requested it (#115 – #127).
@BusActor
final class Prompt {
    private enum State {
        case created
        case running(Conversation)
        /// The timer ends the wait for the action.
        case dismissed(Timer)
        /// The client has its `Completed`, but the action waits, as for a disk that never answers.
        case abandoned
        case completed
    }

    let number = ObjectNumber.random()

    private let action: any PromptAction
    private unowned let client: Client
    private var state = State.created

    init(_ action: any PromptAction, of client: Client) {
        self.action = action
        self.client = client
    }

    var isCreated: Bool {
        if case .created = state { true } else { false }
    }

    /// Approximate bytes of arguments that the prompt keeps.
    var keptBytes: Int { action.keptBytes }

    /// The backup that the prompt restores, if it does.
    var backup: StagedBackup? { (action as? RestorePrompt)?.backup }

    /// The context of the prompt, if any; the prompt ends with it.
    var context: AuthenticationContext? { action.context }

    /// Starts the action and returns at once.
    ///
    /// - Parameter windowID: the parent window of the dialog, as the client spells it; may be empty (#116).
    func run(windowID: String) {
        guard case .created = state else { return }
        let conversation = client.makeConversation(windowID: windowID)
        state = .running(conversation)
        // The task keeps the client alive until the action ends.
        BusActor.start { [self, client] in
            let outcome = await WorkOwner.$current.withValue(.person) {
                await action.perform(asking: conversation, for: client)
            }
            conversation.end()
            complete(outcome)
        }
    }

    /// Ends the prompt without a result.
    func dismiss(_ cancellation: Cancellation = .byProgram) {
        switch state {
        case .created: complete(.dismissed(action.emptyResult))
        case .running(let conversation):
            let limit = client.environment.limits.settlingTime
            state = .dismissed(BusActor.loop.schedule(after: limit) { [weak self] in self?.abandon() })
            conversation.end(cancellation)
        case .dismissed, .abandoned, .completed: break
        }
    }

    private func abandon() {
        guard case .dismissed = state else { return }
        state = .abandoned
        client.abandon(self, .dismissed(action.emptyResult))
    }

    private func complete(_ outcome: PromptOutcome) {
        let before = state
        state = .completed
        switch before {
        case .created, .running: client.complete(self, outcome)
        case .dismissed(let timer):
            BusActor.loop.cancel(timer)
            client.complete(self, outcome)
        case .abandoned: client.forget(self)
        case .completed: break
        }
    }
}

/// The operation of a prompt.
@BusActor
protocol PromptAction: AnyObject {
    /// The result of a dismissal.
    var emptyResult: Variant { get }

    /// Approximate bytes of arguments that the action keeps, such as a secret to store.
    var keptBytes: Int { get }

    var context: AuthenticationContext? { get }

    /// Asks, then acts; returns soon after the conversation is ended from outside.
    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome
}

extension PromptAction {
    var keptBytes: Int { 0 }

    var context: AuthenticationContext? { nil }
}

/// The outcome of a prompt.
///
/// The result always has the type of a success: libsecret waits forever on any other (#123).
enum PromptOutcome {
    case done(Variant)
    case dismissed(Variant)

    var isDismissed: Bool {
        if case .dismissed = self { true } else { false }
    }

    var result: Variant {
        switch self {
        case .done(let result), .dismissed(let result): result
        }
    }
}
