package import KeychaindDBus

/// A dialog of the system, such as polkit's, which asks and verifies by itself.
///
/// It yields no key and hides which factor was proved, so it proves only user presence.
@BusActor
package protocol SystemDialog: AnyObject {
    /// Whether the dialog can be shown; answers within a bounded time.
    func isAvailable() async -> Bool

    /// Shows the dialog.
    ///
    /// - Parameter message: caller, request and reason; the system may not show it.
    func authenticate(_ message: String) -> any SystemAuthentication
}

/// One showing of the system dialog.
@BusActor
package protocol SystemAuthentication: AnyObject {
    /// Waits for the end; called once. Nil for success.
    func outcome() async -> AuthenticationError?

    /// Cancels the dialog: it fails with ``AuthenticationError/Code/systemCancel`` unless it has ended.
    func cancel()

    /// Waits until the dialog is off the screen; bounded after a cancellation.
    func waitUntilGone() async
}
