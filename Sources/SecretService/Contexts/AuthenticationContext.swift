import Authentication
import DBus
import KeychainModel

/// A caller's own authentication: how it is to look, whether it is under way, and what it has proved.
@BusActor
final class AuthenticationContext {
    private enum State {
        case idle
        case evaluating(Conversation)
        /// An evaluation was ended from outside, and has not come to its end yet.
        case ending(AuthenticationError)
        case invalidated
    }

    let number = ObjectNumber.random()
    /// The only caller that may use it.
    let caller: Caller
    var settings = AuthenticationSettings()

    private var state = State.idle
    private var proved: (proofs: Proofs, deadline: Duration)?

    private let clock: BootClock

    init(of caller: Caller, clock: BootClock = .system) {
        self.caller = caller
        self.clock = clock
    }

    /// The unique name of the caller.
    var owner: String { caller.uniqueName }

    // MARK: Evaluating

    /// Runs an evaluation, one at a time; throws what it ended with, `appCancel` if this context has ended it.
    func evaluate(
        in conversation: Conversation,
        _ evaluation: () async throws(AuthenticationError) -> Proofs
    ) async throws(AuthenticationError) {
        guard case .idle = state else {
            throw AuthenticationError(.invalidContext, reason: "another evaluation of the context is under way")
        }
        state = .evaluating(conversation)
        let result: Result<Proofs, AuthenticationError>
        do throws(AuthenticationError) {
            result = .success(try await evaluation())
        } catch {
            result = .failure(error)
        }
        conversation.end()
        switch state {
        case .ending(let error):
            state = .idle
            throw error
        case .invalidated:
            throw AuthenticationError(.appCancel, reason: "the program has ended the context")
        case .idle, .evaluating:
            state = .idle
            record(try result.get())
        }
    }

    /// Ends an evaluation that is under way, with an error.
    func cancel(_ error: AuthenticationError = AuthenticationError(.appCancel, reason: "the program has cancelled it"))
    {
        guard case .evaluating(let conversation) = state else { return }
        state = .ending(error)
        conversation.end()
    }

    /// Ends what was proved, and what is being proved, as the session was locked.
    func endProofs() {
        proved = nil
        cancel(AuthenticationError(.systemCancel, reason: "the session was locked"))
    }

    /// Ends an evaluation that is under way, and the context.
    func invalidate() {
        cancel()
        state = .invalidated
        proved = nil
    }

    // MARK: What was proved

    /// Takes note of what a person has proved in this context just now.
    func record(_ proofs: Proofs) {
        if case .invalidated = state { return }
        proved = (proofs, clock.now + GrantReuse(settings.reuse).lifetime)
    }

    /// What was proved recently enough to serve now; with no time of reuse, once.
    func useProofs() -> Proofs {
        defer { if settings.reuse == .zero { proved = nil } }
        guard let proved, clock.now < proved.deadline else { return .none }
        return proved.proofs
    }
}
