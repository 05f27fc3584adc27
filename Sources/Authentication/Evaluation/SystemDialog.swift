package import DBus

/// The authentication dialog of the system, such as that of polkit, which asks and verifies by itself.
///
/// It gives no key, and does not say which factor was proved, so it proves user presence only.
@BusActor
package protocol SystemDialog: AnyObject {
    /// Whether the dialog can be shown now; answers within a bounded time.
    func isAvailable() async -> Bool

    /// Shows the dialog.
    ///
    /// - Parameter message: who asks for what, and why; the system may not show it.
    func authenticate(_ message: String) -> any SystemAuthentication
}

/// One showing of the dialog of the system.
@BusActor
package protocol SystemAuthentication: AnyObject {
    /// Waits for the end; called once. Nil for success.
    func outcome() async -> AuthenticationError?

    /// Cancels the dialog, which fails with ``AuthenticationError/Code/systemCancel`` unless it has ended.
    func cancel()

    /// Waits until the dialog is off the screen; after a cancellation, for a bounded time.
    func waitUntilGone() async
}
