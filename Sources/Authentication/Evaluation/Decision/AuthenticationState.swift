/// The facts that a decision depends on, at its moment.
package struct AuthenticationState: Hashable, Sendable {
    /// What the reader can do.
    package var biometry: BiometryAvailability

    /// Whether too many touches did not match.
    package var isBiometryLocked: Bool

    /// Whether there is a passcode.
    package var isPasscodeSet: Bool

    /// Whether dialogs can be shown.
    package var hasPrompter: Bool

    /// How far dialogs are trusted.
    package var prompterTrust: PrompterTrust

    /// Whether the system's own dialog is to be used where it suffices, and can be.
    package var hasSystemDialog: Bool

    /// Whether the session is locked.
    package var isSessionLocked: Bool

    /// Whether a person may be asked, as far as the caller is concerned.
    package var isInteractionAllowed: Bool

    /// Puts a state together.
    package init(
        biometry: BiometryAvailability,
        isBiometryLocked: Bool = false,
        isPasscodeSet: Bool,
        hasPrompter: Bool = true,
        prompterTrust: PrompterTrust = .trusted,
        hasSystemDialog: Bool = false,
        isSessionLocked: Bool = false,
        isInteractionAllowed: Bool = true
    ) {
        self.biometry = biometry
        self.isBiometryLocked = isBiometryLocked
        self.isPasscodeSet = isPasscodeSet
        self.hasPrompter = hasPrompter
        self.prompterTrust = prompterTrust
        self.hasSystemDialog = hasSystemDialog
        self.isSessionLocked = isSessionLocked
        self.isInteractionAllowed = isInteractionAllowed
    }
}
