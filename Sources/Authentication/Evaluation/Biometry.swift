package import DBus

/// A fingerprint reader, through the service that drives it.
@BusActor
package protocol Biometry: AnyObject {
    /// The availability now, within a bounded time.
    func availability() async -> BiometryAvailability

    /// The first hint of a match, known from ``availability()``, for the first text of the dialog.
    var firstHint: BiometryHint { get }

    /// Starts to match the next touch; one match at a time.
    ///
    /// - Parameter hint: called with hints for the person, until the match has ended.
    func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch
}

/// A match: one comparison, after several scans if some are not clear.
@BusActor
package protocol BiometryMatch: AnyObject {
    /// Waits for the end; called once.
    func outcome() async -> BiometryOutcome

    /// Cancels the match, which fails with ``AuthenticationError/Code/systemCancel`` unless it has ended.
    func cancel()
}

/// The result of a match.
package enum BiometryOutcome: Hashable, Sendable {
    /// An enrolled finger, by the name that the service gives, such as `right-index-finger`; empty if unknown.
    case matched(finger: String)

    /// A finger that is not enrolled; counts towards the lockout.
    case notMatched

    /// No comparison: the reader was unplugged, the service failed, or the match was cancelled.
    case failed(AuthenticationError)
}

/// The availability of the reader.
package enum BiometryAvailability: Hashable, Sendable {
    /// A finger can be matched with this enrolled set.
    case available(BiometrySet)

    /// There is no reader or service, or it does not answer; the reason is for a log.
    case notAvailable(reason: String)

    /// There is a reader, but no finger is enrolled.
    case notEnrolled

    /// The reader was unplugged.
    case disconnected

    /// A match has failed, and the reader is not used for now: another program uses it, or nobody has touched it.
    case failed(AuthenticationError)

    /// The enrolled set; nil unless a finger can be matched.
    package var set: BiometrySet? {
        if case .available(let set) = self { set } else { nil }
    }

    /// The reason why no finger can be matched; nil if one can.
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

/// A hash over the enrolled fingers, as the service and its template store show them.
///
/// It identifies the user and the machine, so programs only see it hashed again for each of them.
package struct BiometrySet: Hashable, Sendable {
    /// 32 bytes.
    package let hash: [UInt8]

    /// Creates a set from its hash.
    package init(hash: [UInt8]) {
        self.hash = hash
    }
}

/// A hint for the person during a match.
package enum BiometryHint: Hashable, Sendable, CaseIterable {
    /// The reader waits for a touch.
    case touch

    /// The reader waits for a swipe.
    case swipe

    /// The scan was not clear.
    case retry

    /// The swipe was too short.
    case swipeTooShort

    /// The finger was not in the middle.
    case notCentered

    /// The finger must be lifted first.
    case removeAndRetry

    /// The hint in words, for a dialog.
    package var text: String {
        switch self {
        case .touch: "Touch the fingerprint reader."
        case .swipe: "Swipe your finger across the fingerprint reader."
        case .retry: "That scan was not clear. Try again."
        case .swipeTooShort: "That swipe was too short. Try again."
        case .notCentered: "Your finger was not in the middle of the reader. Try again."
        case .removeAndRetry: "Lift your finger, and try again."
        }
    }
}
