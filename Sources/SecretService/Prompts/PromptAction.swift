import Authentication
import DBus

/// What a prompt does once it is run.
@BusActor
protocol PromptAction: AnyObject {
    /// What the result is if nothing was done.
    var emptyResult: Variant { get }

    /// Asks and acts; ends soon after the conversation was ended from outside.
    func perform(asking conversation: Conversation) async -> PromptOutcome
}
