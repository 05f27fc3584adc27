/// The terminal of a caller, on which it can be asked.
package struct CallerTerminal: Hashable, Sendable {
    /// The path of its device.
    package let path: String
    /// What kind of terminal it is, as `TERM` has it.
    package let type: String
    /// What the caller's environment says about the language: `LC_ALL`, `LC_CTYPE`, `LC_MESSAGES` and `LANG`.
    package let locale: [String: String]
}
