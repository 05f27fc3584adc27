package import DBus

/// The system's own authentication dialog, such as polkit's: it asks, and verifies the answer itself.
///
/// It gives no key material and does not tell what was proved, so it stands for user presence, and for nothing else.
@BusActor
package protocol SystemDialog: AnyObject {
    /// Whether it could be shown now; answers within a bounded time.
    func isAvailable() async -> Bool

    /// Shows the dialog.
    ///
    /// - Parameter message: who asks for what, and why; it may be left out where the system shows texts of its own only.
    func authenticate(_ message: String) -> any SystemAuthentication
}
