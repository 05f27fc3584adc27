import KeychaindDBus
import KeychaindRules

/// The rules about one client, found at its first read.
@BusActor
final class ClientRules {
    @BusActor
    final class State {
        let selection: RuleSelection
        /// Nil if the caller cannot be seen, or no longer.
        let caller: RuleCaller?
        /// The caller in the audit.
        let text: String
        let generation: Int
        var looked: ContinuousClock.Instant

        init(
            _ selection: RuleSelection,
            about caller: RuleCaller?,
            text: String,
            generation: Int,
            looked: ContinuousClock.Instant
        ) {
            self.selection = selection
            self.caller = caller
            self.text = text
            self.generation = generation
            self.looked = looked
        }
    }

    var state: State?

    nonisolated init() {}
}
