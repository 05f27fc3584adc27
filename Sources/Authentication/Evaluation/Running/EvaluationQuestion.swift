package import KeychainModel

/// What a dialog shows at a moment of an evaluation.
package struct EvaluationQuestion: Hashable, Sendable {
    /// The passwords of which one may be typed; if there are none, only the reader is waited for.
    package var passwords: FactorSet

    /// What to do at the reader; nil if a finger is of no use.
    package var reader: BiometryHint?

    /// Whether a finger can be enough by itself, so that a password may be typed instead and need not be typed besides.
    package var readerSuffices: Bool

    /// What went wrong before; empty if nothing did.
    package var warning: String

    /// Whether the warning only says how to hold the finger: for that no dialog is taken away in which a password may be half typed.
    package var isAdvice: Bool

    /// Puts a question together.
    package init(
        passwords: FactorSet,
        reader: BiometryHint?,
        readerSuffices: Bool = true,
        warning: String = "",
        isAdvice: Bool = false
    ) {
        self.passwords = passwords
        self.reader = reader
        self.readerSuffices = readerSuffices
        self.warning = warning
        self.isAdvice = isAdvice
    }
}
