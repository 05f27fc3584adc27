import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault

/// An authentication context: its settings, its running evaluation and its proof.
@BusActor
final class AuthenticationContext {
    private enum State {
        case idle
        case evaluating(Conversation)
        /// The evaluation was ended from outside and has not returned yet.
        case ending(Cancellation)
        case invalidated
    }

    let number = ObjectNumber.random()
    unowned let client: Client
    /// The program behind the client.
    let caller: Caller
    var settings = AuthenticationSettings()
    /// The error of the last prompt; nil after a success.
    var failure: AuthenticationError?

    private var state = State.idle
    private var proved: (proof: ContextProof, reuse: Duration, deadline: Duration)?
    /// Wipes the proof and its key at the deadline.
    private var expiry: Timer?
    /// The application password that the program supplied, not in locked memory, which it could fill; nil for none.
    private var credential: SecureBytes?
    /// Authorisations of operations on items; nil for one that a change has taken, and may return in part.
    private var authorizations: [ItemReference: (authorization: ItemAuthorization?, deadline: Duration)] = [:]
    /// Drops old ones; there may be thousands.
    private var authorizationTimer: Timer?
    /// The number of times that the proof was ended from outside.
    private(set) var endings = 0

    private let clock: BootClock

    init(of client: Client, _ caller: Caller, clock: BootClock) {
        self.client = client
        self.caller = caller
        self.clock = clock
    }

    // MARK: The application password

    var hasCredential: Bool { credential != nil }

    /// A copy of the application password; nil for none.
    var credentialCopy: SecureBytes? {
        guard credential != nil else { return nil }
        return try? credential?.copy(in: .ordinary)
    }

    /// Keeps an application password until the end of the context; nil for none.
    func setCredential(_ password: consuming SecureBytes?) {
        if case .invalidated = state { return }
        credential = password
    }

    // MARK: Evaluating

    /// Runs one evaluation at a time and records its proof; throws if it was ended from outside.
    ///
    /// - Parameter reuse: the lifetime of the proof, as shown in the dialog.
    func evaluate(
        for reuse: Duration,
        in conversation: Conversation,
        _ evaluation: () async throws(AuthenticationError) -> ContextProof
    ) async throws(AuthenticationError) {
        guard case .idle = state else {
            throw AuthenticationError(.invalidContext, reason: "the context is already running an evaluation")
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
            throw AuthenticationError(.appCancel, reason: "the program has invalidated the context")
        case .idle, .evaluating:
            state = .idle
            record(try result.get(), for: reuse)
        }
    }

    func cancel(_ cancellation: Cancellation = .byProgram) {
        guard case .evaluating(let conversation) = state else { return }
        state = .ending(cancellation)
        conversation.end(cancellation)
    }

    /// Ends the proof, the authorisations and the running evaluation.
    func endProofs(_ cancellation: Cancellation) {
        endings += 1
        authorizations = [:]
        forget()
        cancel(cancellation)
    }

    /// Ends the context and its running evaluation.
    func invalidate() {
        cancel()
        state = .invalidated
        credential = nil
        endings += 1
        authorizations = [:]
        forget()
    }

    /// Throws `InvalidContext` once the program has ended the context.
    func checkValid() throws(BusError) {
        guard case .invalidated = state else { return }
        throw BusError(AuthenticationError(.invalidContext, reason: "the program has invalidated the context"))
    }

    // MARK: The proof

    /// Whether there is a proof, which may have expired; does not use it.
    var hasProof: Bool { proved != nil }

    /// Records a proof.
    ///
    /// - Parameter reuse: the lifetime, as shown in the dialog; zero allows one unlock.
    func record(_ proof: ContextProof, for reuse: Duration) {
        if case .invalidated = state { return }
        forget()
        let lifetime = GrantReuse(reuse).lifetime
        proved = (proof, reuse, clock.now + lifetime)
        scheduleExpiry(after: lifetime)
    }

    /// Whether a valid proof satisfies a requirement, and its dialog announced changes; does not use it.
    func hasProved(_ requirement: Requirement) -> Bool {
        allowsChanges && proved?.proof.satisfies(requirement) == true
    }

    /// Takes over the latest proof of the caller's other contexts, unless it is older than the settings accept.
    ///
    /// It serves for as long as its dialog said.
    func adoptRecentProof() {
        if case .invalidated = state { return }
        let now = clock.now
        guard settings.acceptedAge > .zero, proved.map({ $0.deadline <= now }) ?? true else { return }
        let recent = client.contexts.all.compactMap(\.proved).filter { proof, reuse, deadline in
            reuse > .zero && deadline > now && deadline - reuse + settings.acceptedAge > now
        }
        guard let latest = recent.max(by: { $0.deadline - $0.reuse < $1.deadline - $1.reuse }) else { return }
        forget()
        proved = latest
        scheduleExpiry(after: latest.deadline - now)
    }

    /// Takes the valid proof for one call.
    ///
    /// The lifetime of its grants never exceeds that in the dialog, whatever the program has set since.
    func useProof() -> TakenProof? {
        guard let proved else { return nil }
        let isSingle = proved.reuse == .zero
        if isSingle || settings.reuse == .zero || proved.deadline <= clock.now { forget() }
        return take(proved.proof, for: isSingle ? .zero : settings.grantReuse, until: proved.deadline)
    }

    /// Takes the valid proof, if its dialog announced changes of items; changes do not use it up.
    func takeProofForChanges() -> TakenProof? {
        guard let proved, allowsChanges else { return nil }
        return take(proved.proof, for: .zero, until: proved.deadline)
    }

    /// Whether there is a valid proof whose dialog announced changes of items.
    var allowsChanges: Bool {
        guard let proved else { return false }
        return proved.proof.allowsChanges && proved.deadline > clock.now && settings.reuse != .zero
    }

    private func take(_ proof: ContextProof, for reuse: Duration, until deadline: Duration) -> TakenProof? {
        deadline > clock.now ? TakenProof(proof, for: reuse, until: deadline, clock: clock) : nil
    }

    // MARK: Authorisations

    /// Keeps an authorisation for a short time, for the next operation of its kind.
    func keep(_ authorization: ItemAuthorization) {
        if case .invalidated = state { return }
        let lifetime = GrantReuse.singleReleaseTime
        authorizations[authorization.item.reference] = (authorization, clock.now + lifetime)
        if authorizationTimer == nil { dropOldAuthorizations(after: lifetime) }
    }

    /// The authorisation that covers parts of an item, if any; does not use it.
    func authorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        guard let (kept, deadline) = authorizations[item], let authorization = kept, clock.now < deadline,
            authorization.parts.isSuperset(of: parts)
        else { return nil }
        return authorization
    }

    /// Takes an authorisation; nil if it does not cover the parts.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        guard let taken = authorization(for: parts, of: item) else { return nil }
        authorizations[item]?.authorization = nil
        return taken
    }

    /// Keeps the rest of an authorisation that was taken, unless that has ended since or there is a new one.
    func restore(_ authorization: ItemAuthorization) {
        guard let (kept, _) = authorizations[authorization.item.reference], kept == nil else { return }
        keep(authorization)
    }

    func endAuthorizations(where isAffected: (ItemReference) -> Bool) {
        authorizations = authorizations.filter { !isAffected($0.key) }
    }

    func endAuthorization(of item: ItemReference) {
        authorizations[item] = nil
    }

    private func dropOldAuthorizations(after delay: Duration) {
        authorizationTimer = BusActor.loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            let now = clock.now
            authorizations = authorizations.filter { $0.value.deadline > now }
            authorizationTimer = nil
            if !authorizations.isEmpty { dropOldAuthorizations(after: .seconds(1)) }
        }
    }

    private func scheduleExpiry(after delay: Duration) {
        expiry = BusActor.loop.schedule(after: delay) { [weak self] in
            guard let self, let proved else { return }
            let rest = proved.deadline - clock.now
            if rest > .zero { scheduleExpiry(after: rest) } else { forget() }
        }
    }

    private func forget() {
        proved = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}

/// Factors proved in a context, with the resulting key.
struct ContextProof {
    private let factors: FactorSet
    private let matchedSet: BiometrySet?

    /// The key of items sealed to the passcode, wiped with its last reference.
    let passcode: PasscodeKey?

    /// Whether the dialog announced changes of items, too.
    let allowsChanges: Bool

    init(
        factors: FactorSet,
        matchedSet: BiometrySet? = nil,
        passcode: PasscodeKey? = nil,
        allowsChanges: Bool = false
    ) {
        self.factors = factors
        self.allowsChanges = allowsChanges
        self.matchedSet = matchedSet
        self.passcode = factors.contains(.passcode) ? passcode : nil
    }

    /// No factor.
    static let none = ContextProof(factors: [])

    /// - Parameter more: a factor that is proved with its key besides.
    func satisfies(_ requirement: Requirement, with more: FactorSet = []) -> Bool {
        let keys: FactorSet = passcode == nil ? more : more.union(.passcode)
        let proofs = Proofs(factors: factors.union(more), keys: keys, matchedSet: matchedSet)
        return requirement.policy?.isSatisfied(by: proofs.counting(for: requirement)) ?? true
    }
}

/// A proof that serves one call, until the time that its dialog stated is over.
///
/// A call can name many items that take long to open, and must not open the last ones hours later.
@BusActor
final class TakenProof {
    private var proof: ContextProof?
    private let longest: Duration
    private let deadline: Duration
    private let clock: BootClock
    /// Wipes the proof and its key at the deadline.
    private var expiry: Timer?

    /// - Parameter longest: the maximum lifetime of its grants; zero means one release.
    init(_ proof: ContextProof, for longest: Duration, until deadline: Duration, clock: BootClock) {
        self.proof = proof
        self.longest = longest
        self.deadline = deadline
        self.clock = clock
        expiry = BusActor.loop.schedule(after: max(.zero, deadline - clock.now)) { [weak self] in self?.proof = nil }
    }

    isolated deinit { expiry.map(BusActor.loop.cancel) }

    /// The proof, with the maximum lifetime of a grant from now on; nil once its time is over.
    var current: (proof: ContextProof, reuse: Duration)? {
        let rest = deadline - clock.now
        guard let proof, rest > .zero else { return nil }
        return (proof, min(longest, rest))
    }
}
