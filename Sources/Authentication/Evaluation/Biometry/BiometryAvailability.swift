/// What the reader can do at a moment.
package enum BiometryAvailability: Hashable, Sendable {
    /// A finger can be matched with the enrolled ones.
    case available(BiometrySet)

    /// There is no reader, or no service for it, or it does not answer; why, in words for a log.
    case notAvailable(reason: String)

    /// There is a reader, and no finger is enrolled.
    case notEnrolled

    /// There was a reader, and it is gone.
    case disconnected

    /// A match has come to nothing, and the reader is left alone for now: another program keeps it, say, or nobody has touched it.
    case failed(AuthenticationError)

    /// The enrolled set; nil unless a finger can be matched.
    package var set: BiometrySet? {
        if case .available(let set) = self { set } else { nil }
    }

    /// Why no finger can be matched; nil if one can.
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
