/// When a keychain locks by itself.
package struct LockRules: Hashable, Sendable {
    /// With the screen.
    package var onScreenLock = false

    /// Before the machine sleeps.
    package var onSleep = false

    /// At the end of the session, if keychaind lives longer than that.
    package var onSessionEnd = true

    /// After the session has been idle for as long; nil for never.
    package var afterIdle: Duration?

    /// The rules without a configuration.
    package init() {}
}
