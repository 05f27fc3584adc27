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
    /// What the last prompt ended with; nil if nothing was wrong.
    var failure: AuthenticationError?

    private var state = State.idle
    private var proved: (proof: ContextProof, deadline: Duration)?
    /// Forgets what was proved: a key in it does not wait for somebody to look whether it is still good.
    private var expiry: Timer?
    /// How often what was proved was ended from outside.
    private(set) var endings = 0

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
        _ evaluation: () async throws(AuthenticationError) -> ContextProof
    ) async throws(AuthenticationError) {
        guard case .idle = state else {
            throw AuthenticationError(.invalidContext, reason: "another evaluation of the context is under way")
        }
        state = .evaluating(conversation)
        let result: Result<ContextProof, AuthenticationError>
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
        endings += 1
        forget()
        cancel(AuthenticationError(.systemCancel, reason: "the session was locked"))
    }

    /// Ends an evaluation that is under way, and the context.
    func invalidate() {
        cancel()
        state = .invalidated
        endings += 1
        forget()
    }

    // MARK: What was proved

    /// Takes note of what a person has proved in this context just now.
    func record(_ proof: ContextProof) {
        if case .invalidated = state { return }
        forget()
        let lifetime = GrantReuse(settings.reuse).lifetime
        proved = (proof, clock.now + lifetime)
        expiry = BusActor.loop.schedule(after: lifetime) { [weak self] in self?.forget() }
    }

    /// What was proved recently enough to serve now; with no time of reuse, once.
    func useProof() -> ContextProof? {
        guard let proved else { return nil }
        let isFresh = clock.now < proved.deadline
        if settings.reuse == .zero || !isFresh { forget() }
        return isFresh ? proved.proof : nil
    }

    private func forget() {
        proved = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}
