package import KeychainModel

/// What a dialog shows at a moment of an evaluation.
package struct EvaluationQuestion: Hashable, Sendable {
    /// The passwords of which one may be typed; if there are none, only the reader is waited for.
    package var passwords: FactorSet

    /// What to do at the reader; nil if a finger is of no use.
    package var reader: BiometryHint?

    /// What went wrong before; empty if nothing did.
    package var warning: String

    /// Puts a question together.
    package init(passwords: FactorSet, reader: BiometryHint?, warning: String = "") {
        self.passwords = passwords
        self.reader = reader
        self.warning = warning
    }
}
