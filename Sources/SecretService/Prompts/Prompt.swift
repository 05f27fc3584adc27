import Authentication
import DBus

/// An operation that waits for a person, and belongs to the caller that asked for it (#115 – #127).
@BusActor
final class Prompt {
    private enum State {
        case created
        case running(Conversation)
        case completed
    }

    let number = ObjectNumber.random()
    /// The unique name of the only connection that may run it, and is told its outcome (#120 – #122).
    let owner: String

    private let action: any PromptAction
    private unowned let provider: Provider
    private var state = State.created

    init(_ action: any PromptAction, owner: String, provider: Provider) {
        self.action = action
        self.owner = owner
        self.provider = provider
    }

    /// Whether it has not been run yet.
    var isCreated: Bool {
        if case .created = state { true } else { false }
    }

    /// About how many bytes it keeps that its caller has sent.
    var keptBytes: Int { action.keptBytes }

    /// The context that it was made in, if so; it ends with that.
    var context: AuthenticationContext? { (action as? UnlockPrompt)?.context }

    /// Starts asking, and returns.
    ///
    /// - Parameter windowID: the window to show the dialog above, as the client spells it; may be empty (#116).
    func run(windowID: String) {
        guard case .created = state else { return }
        let conversation = provider.makeConversation(for: owner, windowID: windowID)
        state = .running(conversation)
        BusActor.start { [self] in
            let outcome = await action.perform(asking: conversation)
            conversation.end()
            complete(outcome)
        }
    }

    /// Ends it without an answer; what was not done yet will not be.
    func dismiss(_ withdrawal: Withdrawal = .byProgram) {
        switch state {
        case .created: complete(.dismissed(action.emptyResult))
        case .running(let conversation): conversation.end(withdrawal)
        case .completed: break
        }
    }

    /// Tells the owner, once, and withdraws the object (#119, #127).
    private func complete(_ outcome: PromptOutcome) {
        if case .completed = state { return }
        state = .completed
        let signal = Message.signal(.prompt(number), InterfaceName.prompt, "Completed", to: owner)
        signal.append(outcome.isDismissed, outcome.result)
        provider.send(signal)
        provider.prompts.remove(self)
    }
}
