package import DBus

/// A fingerprint reader, through the service that drives it.
@BusActor
package protocol Biometry: AnyObject {
    /// What it can do now; answers within a bounded time, whatever the service does.
    func availability() async -> BiometryAvailability

    /// What a person will be told to do first, as far as ``availability()`` has shown: a dialog says so from the beginning.
    var firstHint: BiometryHint { get }

    /// Begins to match the next touch, which may take as long as nobody touches the reader; one at a time.
    ///
    /// - Parameter hint: called for everything that the person should know, until the match has ended.
    func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch
}
