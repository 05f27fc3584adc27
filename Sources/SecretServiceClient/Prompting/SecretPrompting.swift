/// Whether and how a person may be asked.
public struct SecretPrompting: Hashable, Sendable {
    /// Whether a prompt may be shown at all.
    public var isAllowed: Bool

    /// The window that a prompt belongs to: `x11:` and its number in hexadecimal, or `wayland:` and an exported handle; empty if there
    /// is none.
    public var window: String

    /// How long a prompt may stay before it is dismissed.
    ///
    /// The call fails with ``SecretServiceError/Code/timedOut`` then. Nil sets no limit: only cancelling the task ends the wait.
    public var timeout: Duration?

    /// A prompt that may be shown.
    public init(window: String = "", timeout: Duration? = .seconds(300)) {
        isAllowed = true
        self.window = window
        self.timeout = timeout
    }

    /// A prompt of no window, for five minutes at the most.
    public static let shown = SecretPrompting()

    /// Nobody is asked: what needs that fails with ``SecretServiceError/Code/interactionNotAllowed``.
    public static let never: SecretPrompting = {
        var prompting = SecretPrompting()
        prompting.isAllowed = false
        return prompting
    }()
}
