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
        case ending(Withdrawal)
        case invalidated
    }

    let number = ObjectNumber.random()
    /// The only caller that may use it.
    let caller: Caller
    var settings = AuthenticationSettings()
    /// What the last prompt ended with; nil if nothing was wrong.
    var failure: AuthenticationError?

    private var state = State.idle
    private var proved: (proof: ContextProof, reuse: Duration, deadline: Duration)?
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
    ///
    /// - Parameter reuse: how long what is proved serves, as the person is told.
    func evaluate(
        for reuse: Duration,
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
        case .ending(let withdrawal):
            state = .idle
            throw AuthenticationError(withdrawal)
        case .invalidated:
            throw AuthenticationError(.appCancel, reason: "the program has ended the context")
        case .idle, .evaluating:
            state = .idle
            record(try result.get(), for: reuse)
        }
    }

    /// Ends an evaluation that is under way.
    func cancel(_ withdrawal: Withdrawal = .byProgram) {
        guard case .evaluating(let conversation) = state else { return }
        state = .ending(withdrawal)
        conversation.end(withdrawal)
    }

    /// Ends what was proved, and what is being proved.
    func endProofs(_ withdrawal: Withdrawal) {
        endings += 1
        forget()
        cancel(withdrawal)
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
    ///
    /// - Parameter reuse: how long it serves, as the person was told; with no time, for one unlocking.
    func record(_ proof: ContextProof, for reuse: Duration) {
        if case .invalidated = state { return }
        forget()
        let lifetime = GrantReuse(reuse).lifetime
        proved = (proof, reuse, clock.now + lifetime)
        expiry = BusActor.loop.schedule(after: lifetime) { [weak self] in self?.forget() }
    }

    /// What was proved recently enough to serve now, and how long a grant by it may last: with no time of reuse, for one release.
    ///
    /// Not longer than the person was told, whatever the program has set meanwhile.
    func useProof() -> (proof: ContextProof, reuse: Duration)? {
        guard let proved else { return nil }
        let rest = proved.deadline - clock.now
        let isSingle = proved.reuse == .zero
        if isSingle || settings.reuse == .zero || rest <= .zero { forget() }
        guard rest > .zero else { return nil }
        return (proved.proof, isSingle ? .zero : min(settings.grantReuse, rest))
    }

    private func forget() {
        proved = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}
