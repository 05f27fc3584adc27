import Authentication
import DBus

/// An operation that waits for a person, run by the client that asked for it (#115 – #127).
@BusActor
final class Prompt {
    private enum State {
        case created
        case running(Conversation)
        case completed
    }

    let number = ObjectNumber.random()

    private let action: any PromptAction
    private unowned let client: Client
    private var state = State.created

    /// Creates the prompt of an action, for its client to keep.
    init(_ action: any PromptAction, of client: Client) {
        self.action = action
        self.client = client
    }

    /// Whether it has not been run yet.
    var isCreated: Bool {
        if case .created = state { true } else { false }
    }

    /// The approximate number of bytes of the client's arguments that it keeps.
    var keptBytes: Int { action.keptBytes }

    /// The context in which it was made, if any; it ends with that.
    var context: AuthenticationContext? { action.context }

    /// Starts the action, and returns.
    ///
    /// - Parameter windowID: the window to show the dialog above, as the client spells it; may be empty (#116).
    func run(windowID: String) {
        guard case .created = state else { return }
        let conversation = client.makeConversation(windowID: windowID)
        state = .running(conversation)
        // The task keeps the client until the action has ended.
        BusActor.start { [self, client] in
            let outcome = await action.perform(asking: conversation, for: client)
            conversation.end()
            complete(outcome)
        }
    }

    /// Ends it without an answer; whatever is not done yet will not be.
    func dismiss(_ cancellation: Cancellation = .byProgram) {
        switch state {
        case .created: complete(.dismissed(action.emptyResult))
        case .running(let conversation): conversation.end(cancellation)
        case .completed: break
        }
    }

    private func complete(_ outcome: PromptOutcome) {
        if case .completed = state { return }
        state = .completed
        client.complete(self, outcome)
    }
}

/// The operation of a prompt.
@BusActor
protocol PromptAction: AnyObject {
    /// The result if nothing was done.
    var emptyResult: Variant { get }

    /// The approximate number of bytes of the client's arguments that it keeps, such as a secret to store.
    var keptBytes: Int { get }

    /// The context in which it was asked for; nil without one.
    var context: AuthenticationContext? { get }

    /// Asks and acts; ends soon after the conversation was ended from outside.
    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome
}

extension PromptAction {
    /// Most keep nothing.
    var keptBytes: Int { 0 }

    /// Most are made outside of a context.
    var context: AuthenticationContext? { nil }
}

/// The end of a prompt.
///
/// The result always has the type that success has: libsecret waits forever on any other (#123).
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
