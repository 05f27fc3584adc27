import Authentication
import DBus
import Desktop
import KeychainModel
import Vault

/// An authentication of one client: its settings, whether it is under way, and what it has proved.
@BusActor
final class AuthenticationContext {
    private enum State {
        case idle
        case evaluating(Conversation)
        /// An evaluation was ended from outside, and has not returned yet.
        case ending(Cancellation)
        case invalidated
    }

    let number = ObjectNumber.random()
    /// The client that it belongs to.
    unowned let client: Client
    /// The program of the client.
    let caller: Caller
    var settings = AuthenticationSettings()
    /// The failure of the last prompt; nil if nothing was wrong.
    var failure: AuthenticationError?

    private var state = State.idle
    private var proved: (proof: ContextProof, reuse: Duration, deadline: Duration)?
    /// Wipes the proof, with the key in it, at its deadline.
    private var expiry: Timer?
    /// Permissions for operations on items, until they are used.
    private var authorizations: [ItemReference: (authorization: ItemAuthorization, deadline: Duration)] = [:]
    /// How many times the proof was ended from outside.
    private(set) var endings = 0

    private let clock: BootClock

    init(of client: Client, _ caller: Caller, clock: BootClock) {
        self.client = client
        self.caller = caller
        self.clock = clock
    }

    // MARK: Evaluating

    /// Runs an evaluation, one at a time, and records its proof; throws `appCancel` if this context has ended it.
    ///
    /// - Parameter reuse: how long the proof serves, as the dialog says.
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
        case .ending(let cancellation):
            state = .idle
            throw AuthenticationError(cancellation)
        case .invalidated:
            throw AuthenticationError(.appCancel, reason: "the program has ended the context")
        case .idle, .evaluating:
            state = .idle
            record(try result.get(), for: reuse)
        }
    }

    /// Ends an evaluation that is under way.
    func cancel(_ cancellation: Cancellation = .byProgram) {
        guard case .evaluating(let conversation) = state else { return }
        state = .ending(cancellation)
        conversation.end(cancellation)
    }

    /// Ends the proof, and an evaluation that is under way.
    func endProofs(_ cancellation: Cancellation) {
        endings += 1
        authorizations = [:]
        forget()
        cancel(cancellation)
    }

    /// Ends an evaluation that is under way, and the context.
    func invalidate() {
        cancel()
        state = .invalidated
        endings += 1
        authorizations = [:]
        forget()
    }

    // MARK: The proof

    /// Records a proof.
    ///
    /// - Parameter reuse: how long it serves, as the dialog has said; zero serves for one unlocking.
    func record(_ proof: ContextProof, for reuse: Duration) {
        if case .invalidated = state { return }
        forget()
        let lifetime = GrantReuse(reuse).lifetime
        proved = (proof, reuse, clock.now + lifetime)
        expiry = BusActor.loop.schedule(after: lifetime) { [weak self] in self?.forget() }
    }

    /// A proof that still serves, and how long a grant by it may last; zero is one release.
    ///
    /// Never longer than the dialog has said, whatever the program has set since.
    func useProof() -> (proof: ContextProof, reuse: Duration)? {
        guard let proved else { return nil }
        let rest = proved.deadline - clock.now
        let isSingle = proved.reuse == .zero
        if isSingle || settings.reuse == .zero || rest <= .zero { forget() }
        guard rest > .zero else { return nil }
        return (proved.proof, isSingle ? .zero : min(settings.grantReuse, rest))
    }

    // MARK: Authorisations

    /// Keeps an authorisation for the next operation of its kind, for a short time.
    func keep(_ authorization: ItemAuthorization) {
        if case .invalidated = state { return }
        let lifetime = GrantReuse.singleReleaseTime
        authorizations[authorization.item.reference] = (authorization, clock.now + lifetime)
        _ = BusActor.loop.schedule(after: lifetime) { [weak self] in self?.dropOldAuthorizations() }
    }

    /// Whether an authorisation covers some parts of an item; looking does not use it.
    func allows(_ parts: ItemParts, of item: ItemReference) -> Bool {
        guard let (authorization, deadline) = authorizations[item] else { return false }
        return clock.now < deadline && authorization.parts.isSuperset(of: parts)
    }

    /// Takes the authorisation of an item, all of it; nil if it does not cover the parts.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        guard allows(parts, of: item) else { return nil }
        return authorizations.removeValue(forKey: item)?.authorization
    }

    /// Keeps the rest of an authorisation that was taken.
    func restore(_ authorization: ItemAuthorization) {
        guard authorizations[authorization.item.reference] == nil else { return }
        keep(authorization)
    }

    /// Ends the authorisations of some items.
    func endAuthorizations(where isAffected: (ItemReference) -> Bool) {
        authorizations = authorizations.filter { !isAffected($0.key) }
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

/// The factors that a person has proved in a context, with the key that came of them.
struct ContextProof {
    private let factors: FactorSet
    private let matchedSet: BiometrySet?

    /// The key of items that are sealed to the passcode, wiped with its last reference; nil if that was not given.
    let passcode: PasscodeKey?

    init(factors: FactorSet, matchedSet: BiometrySet? = nil, passcode: PasscodeKey? = nil) {
        self.factors = factors
        self.matchedSet = matchedSet
        self.passcode = factors.contains(.passcode) ? passcode : nil
    }

    /// Whether it satisfies the requirement of an item.
    func satisfies(_ requirement: Requirement) -> Bool {
        let proofs = Proofs(factors: factors, keys: passcode == nil ? [] : .passcode, matchedSet: matchedSet)
        return requirement.policy?.isSatisfied(by: proofs.counting(for: requirement)) ?? true
    }
}
