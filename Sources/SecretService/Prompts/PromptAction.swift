import Authentication
import DBus

/// What a prompt does once it is run.
@BusActor
protocol PromptAction: AnyObject {
    /// What the result is if nothing was done.
    var emptyResult: Variant { get }

    /// About how many bytes it keeps that its caller has sent, such as a secret to be stored.
    var keptBytes: Int { get }

    /// Asks and acts; ends soon after the conversation was ended from outside.
    func perform(asking conversation: Conversation) async -> PromptOutcome
}

extension PromptAction {
    /// Most keep none.
    var keptBytes: Int { 0 }
}
