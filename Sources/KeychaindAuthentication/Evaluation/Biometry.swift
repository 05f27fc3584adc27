package import KeychaindDBus
package import KeychaindLanguage

/// A fingerprint reader.
@BusActor
package protocol Biometry: AnyObject {
    /// Returns the availability within a bounded time.
    func availability() async -> BiometryAvailability

    /// The first hint of a match, set by ``availability()``.
    var firstHint: BiometryHint { get }

    /// Starts to match the next touch; one match at a time.
    ///
    /// - Parameter hint: called with hints for the person until the match ends.
    func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch
}

/// One comparison, after several scans if some are unclear.
@BusActor
package protocol BiometryMatch: AnyObject {
    /// Waits for the end; called once.
    func outcome() async -> BiometryOutcome

    /// Cancels the match: it fails with ``AuthenticationError/Code/systemCancel`` unless it has ended.
    func cancel()
}

/// The outcome of one comparison.
package enum BiometryOutcome: Hashable, Sendable {
    /// The finger's name in the service, such as `right-index-finger`; empty if unknown.
    case matched(finger: String)

    /// Counts towards the lockout.
    case notMatched

    /// The reader was unplugged, the service failed, or the match was cancelled.
    case failed(AuthenticationError)
}

/// Whether a finger can be matched now, and against which enrolled fingers.
package enum BiometryAvailability: Hashable, Sendable {
    case available(BiometrySet)

    /// No reader, no service, or no answer.
    case notAvailable(reason: String)

    case notEnrolled
    case disconnected

    /// A match failed: another program uses the reader, or it was not touched.
    case failed(AuthenticationError)

    package var set: BiometrySet? {
        if case .available(let set) = self { set } else { nil }
    }

    package var error: AuthenticationError? {
        switch self {
        case .available:
            nil
        case .notAvailable(let reason):
            AuthenticationError(.biometryNotAvailable, reason: reason)
        case .notEnrolled:
            AuthenticationError(.biometryNotEnrolled, reason: "no finger is enrolled")
        case .disconnected:
            AuthenticationError(.biometryDisconnected, reason: "the fingerprint reader is gone")
        case .failed(let error):
            error
        }
    }
}

/// A hash of the enrolled fingers, from the service and its template store.
///
/// It identifies user and machine, so each program sees a different hash of it.
package struct BiometrySet: Hashable, Sendable {
    /// 32 bytes.
    package let hash: [UInt8]

    package init(hash: [UInt8]) {
        self.hash = hash
    }
}

/// An instruction of the reader for the person.
package enum BiometryHint: Hashable, Sendable, CaseIterable {
    case touch
    case swipe
    case retry
    case swipeTooShort
    case notCentered
    case removeAndRetry

    package var text: Text {
        switch self {
        case .touch: Text("Touch the fingerprint reader.")
        case .swipe: Text("Swipe your finger across the fingerprint reader.")
        case .retry: Text("That scan was not clear. Try again.")
        case .swipeTooShort: Text("That swipe was too short. Try again.")
        case .notCentered: Text("Your finger was not in the middle of the reader. Try again.")
        case .removeAndRetry: Text("Lift your finger, and try again.")
        }
    }
}
