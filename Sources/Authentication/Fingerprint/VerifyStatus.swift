/// What fprintd tells of a scan: the results of its signal `VerifyStatus`.
enum VerifyStatus: Hashable {
    /// It is one of the enrolled fingers.
    case match
    /// It is another finger.
    case noMatch
    /// The scan was no good, and the reader waits for the next.
    case retry(BiometryHint)
    /// The reader was unplugged.
    case disconnected
    /// The driver has failed; also what a reader tells that is unplugged in the middle of a scan.
    case failed
    /// Nothing that the interface knows.
    case unknown

    /// Reads a result.
    ///
    /// - Parameter isDone: whether fprintd says that the verification is over, which it is just when the result is no retry.
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
            // One of a newer fprintd: whatever was wrong with the scan, another one may do.
            case (_, false)
            where result.hasPrefix("verify-") && result != "verify-match" && result != "verify-no-match":
                .retry(.retry)
            default: .unknown
            }
    }
}
