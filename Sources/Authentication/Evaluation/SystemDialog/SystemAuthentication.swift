package import DBus

/// One showing of the system's dialog.
@BusActor
package protocol SystemAuthentication: AnyObject {
    /// Waits for the end; asked for once. Nil if the person has proved to be the owner.
    func outcome() async -> AuthenticationError?

    /// Takes the dialog off the screen; may be called at any time and again.
    ///
    /// One that has not ended then ends with ``AuthenticationError/Code/systemCancel``.
    func cancel()

    /// Waits until the dialog is off the screen, for a bounded time after it was cancelled.
    func waitUntilGone() async
}
