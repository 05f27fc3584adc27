import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport

/// A fingerprint reader that a test controls.
@BusActor
final class FakeReader: Biometry {
    /// One match, which a test ends.
    @BusActor
    final class Match: BiometryMatch {
        let hint: @BusActor (BiometryHint) -> Void
        private(set) var isCancelled = false
        private var ended: BiometryOutcome?
        private var waiter: CheckedContinuation<BiometryOutcome, Never>?

        init(hint: @escaping @BusActor (BiometryHint) -> Void) {
            self.hint = hint
        }

        var hasEnded: Bool { ended != nil }

        func outcome() async -> BiometryOutcome {
            await withCheckedContinuation { continuation in
                if let ended { continuation.resume(returning: ended) } else { waiter = continuation }
            }
        }

        func cancel() {
            isCancelled = true
            end(.failed(AuthenticationError(.systemCancel, reason: "cancelled")))
        }

        func end(_ outcome: BiometryOutcome) {
            guard ended == nil else { return }
            ended = outcome
            waiter?.resume(returning: outcome)
            waiter = nil
        }
    }

    nonisolated static let set = BiometrySet(hash: [1])
    nonisolated static let otherSet = BiometrySet(hash: [2])

    var answer = BiometryAvailability.available(FakeReader.set)
    var firstHint = BiometryHint.touch
    /// Called when the availability is read.
    var whenAsked: (@BusActor () -> Void)?
    let matches = Recorder<Match>()

    nonisolated init() {}

    func availability() async -> BiometryAvailability {
        whenAsked?()
        return answer
    }

    func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch {
        let match = Match(hint: hint)
        matches.record(match)
        return match
    }
}
