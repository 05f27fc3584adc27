package import KeychaindLanguage
import KeychaindModel

/// The sandbox around a process, as far as it is proven.
package enum Confinement: Hashable, Sendable {
    /// No sandbox that keychaind knows.
    case none

    /// A sandbox that names its program, and that the program cannot leave.
    case sandbox(Sandbox)

    /// A sandbox whose name is not proven, or a process that cannot be examined.
    case unknown(reason: Text)
}

extension Sandbox {
    /// Whether the program cannot leave the sandbox or choose its name.
    package var isProven: Bool { evidence.strength == .proven }
}
