import Authentication
import DBus
import Desktop
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
    /// What a person has allowed to be done to items, until it is done.
    private var authorizations: [ItemReference: (authorization: ItemAuthorization, deadline: Duration)] = [:]
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
        authorizations = [:]
        forget()
        cancel(withdrawal)
    }

    /// Ends an evaluation that is under way, and the context.
    func invalidate() {
        cancel()
        state = .invalidated
        endings += 1
        authorizations = [:]
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

    // MARK: What was allowed

    /// Keeps what a person has allowed, for the next operation of that kind, and not for long.
    func keep(_ authorization: ItemAuthorization) {
        if case .invalidated = state { return }
        let lifetime = GrantReuse.singleReleaseTime
        authorizations[authorization.item.reference] = (authorization, clock.now + lifetime)
        _ = BusActor.loop.schedule(after: lifetime) { [weak self] in self?.dropOldAuthorizations() }
    }

    /// Whether something may be done to an item; looking does not use it.
    func allows(_ parts: ItemParts, of item: ItemReference) -> Bool {
        guard let (authorization, deadline) = authorizations[item] else { return false }
        return clock.now < deadline && authorization.parts.isSuperset(of: parts)
    }

    /// Takes what was allowed for an item, all of it; nil if that does not include what is to be done.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        guard allows(parts, of: item) else { return nil }
        return authorizations.removeValue(forKey: item)?.authorization
    }

    /// Keeps what is left of something that was taken.
    func restore(_ authorization: ItemAuthorization) {
        guard authorizations[authorization.item.reference] == nil else { return }
        keep(authorization)
    }

    /// Gives up what was allowed for an item.
    func endAuthorization(of item: ItemReference) {
        authorizations[item] = nil
    }

    /// Gives up what was allowed for the items of a collection.
    func endAuthorizations(in collection: CollectionName) {
        authorizations = authorizations.filter { $0.key.collection != collection }
    }

    private func dropOldAuthorizations() {
        let now = clock.now
        authorizations = authorizations.filter { $0.value.deadline > now }
    }

    private func forget() {
        proved = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}
