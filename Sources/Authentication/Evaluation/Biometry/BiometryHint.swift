/// What a person is to do at the reader, while a match is under way.
package enum BiometryHint: Hashable, Sendable, CaseIterable {
    /// The reader is ready, and wants to be touched.
    case touch

    /// The reader is ready, and wants a swipe.
    case swipe

    /// The scan was no good.
    case retry

    /// The swipe was too short.
    case swipeTooShort

    /// The finger was not in the middle.
    case notCentered

    /// The finger has to be lifted first.
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
