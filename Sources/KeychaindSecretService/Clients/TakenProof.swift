import KeychaindAuthentication
import KeychaindDBus

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
