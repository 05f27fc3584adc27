/// A result of the fprintd signal `VerifyStatus`.
enum VerifyStatus: Hashable {
    case match
    case noMatch
    /// An unusable scan; the reader waits for another.
    case retry(BiometryHint)
    case disconnected
    /// A driver failure, or a reader unplugged during a scan.
    case failed
    /// A result outside the interface.
    case unknown

    /// - Parameter isDone: whether fprintd ended the verification, which every result except a retry does.
    init(_ result: String, isDone: Bool) {
        self =
            switch (result, isDone) {
            case ("verify-match", true): .match
            case ("verify-no-match", true): .noMatch
            case ("verify-retry-scan", false): .retry(.retry)
            case ("verify-swipe-too-short", false): .retry(.swipeTooShort)
            case ("verify-finger-not-centered", false): .retry(.notCentered)
            case ("verify-remove-and-retry", false): .retry(.removeAndRetry)
            case ("verify-disconnected", _): .disconnected
            case ("verify-unknown-error", _): .failed
            // An unusable scan reported by a newer fprintd.
            case (_, false)
            where result.hasPrefix("verify-") && result != "verify-match" && result != "verify-no-match":
                .retry(.retry)
            default: .unknown
            }
    }
}
