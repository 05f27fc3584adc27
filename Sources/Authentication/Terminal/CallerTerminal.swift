/// The terminal of a caller, on which it can be asked.
struct CallerTerminal: Hashable, Sendable {
    /// The path of its device.
    let path: String
    /// What kind of terminal it is, as `TERM` has it.
    let type: String
    /// What the caller's environment says about the language: `LC_ALL`, `LC_CTYPE`, `LC_MESSAGES` and `LANG`.
    let locale: [String: String]
}
