import Authentication
import DBus

/// What a prompt does once it is run.
@BusActor
protocol PromptAction: AnyObject {
    /// What the result is if nothing was done.
    var emptyResult: Variant { get }

    /// How many bytes of secrets it keeps until it is run.
    var secretBytes: Int { get }

    /// Asks and acts; ends soon after the conversation was ended from outside.
    func perform(asking conversation: Conversation) async -> PromptOutcome
}

extension PromptAction {
    /// Most keep none.
    var secretBytes: Int { 0 }
}
