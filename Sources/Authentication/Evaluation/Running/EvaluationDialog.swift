package import DBus

/// What an evaluation shows its questions in; it belongs to the caller's talk with the person, which may go on afterwards.
@BusActor
package protocol EvaluationDialog: AnyObject {
    /// Whether somebody can probably be asked at this moment; nothing is shown to find it out.
    func isAvailable() async -> Bool

    /// Waits for the turn to ask; nil once it has come. Throws nothing: whatever keeps it from coming is the answer.
    func begin() async -> AuthenticationError?

    /// Asks, and waits for the answer; one question at a time.
    ///
    /// - Parameter whenShown: called once the prompter has taken the question, before which nobody can know what a touch would be for.
    func ask(
        _ question: EvaluationQuestion,
        whenShown: @escaping @BusActor () -> Void
    ) async -> EvaluationAnswer

    /// Puts the question that waits in other words; false if the dialog goes for that, and another comes.
    func revise(_ question: EvaluationQuestion) -> Bool

    /// How far the dialog on the screen is trusted at this moment.
    func trust() async -> PrompterTrust

    /// How far the dialog was trusted that has given the last answer.
    var trustOfAnswer: PrompterTrust { get }

    /// Takes the question that waits back, which is then answered ``EvaluationAnswer/withdrawn``.
    func withdraw()

    /// Sets what is called when the owner of the talk ends it, at once if that has been; nil for nothing.
    func whenEnded(_ action: (@BusActor (AuthenticationError) -> Void)?)

    /// Keeps the turn beyond the end of the talk, until it is released as often: the system's dialog takes its time to go.
    func holdTurn()

    /// Ends a ``holdTurn()``.
    func releaseTurn()
}
