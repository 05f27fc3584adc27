import Authentication
import DBus
import TestSupport

/// A fingerprint reader, touched by a test.
@BusActor
final class FakeReader: Biometry {
    /// One match, which ends when the test says so.
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

        /// Ends it, unless it has ended.
        func end(_ outcome: BiometryOutcome) {
            guard ended == nil else { return }
            ended = outcome
            waiter?.resume(returning: outcome)
            waiter = nil
        }
    }

    nonisolated static let set = BiometrySet(hash: [1])
    nonisolated static let otherSet = BiometrySet(hash: [2])

    /// What it says that it can do.
    var answer = BiometryAvailability.available(FakeReader.set)
    var firstHint = BiometryHint.touch
    /// Called whenever it is asked what it can do.
    var whenAsked: (@BusActor () -> Void)?
    /// The matches that were begun.
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
