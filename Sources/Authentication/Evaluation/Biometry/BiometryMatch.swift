package import DBus

/// One match, from its beginning to its end: several scans if some were no good, but one comparison.
@BusActor
package protocol BiometryMatch: AnyObject {
    /// Waits for the end; asked for once.
    func outcome() async -> BiometryOutcome

    /// Lets the reader go; may be called at any time and again.
    ///
    /// A match that has not ended then ends as failed with ``AuthenticationError/Code/systemCancel``.
    func cancel()
}
