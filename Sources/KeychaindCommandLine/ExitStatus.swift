package import KeychaindLanguage

/// The exit statuses of `keychainctl`, listed in its manual page.
///
/// Wrong arguments end with 64 (`EX_USAGE`), as the argument parser does.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// No other status fits.
    case failure = 1
    /// Something was left undone and is named: items that differ, or that could not be read.
    case incomplete = 2
    /// There is no such item, keychain, file or provider.
    case notFound = 3
    case locked = 4
    /// The person dismissed a dialog, or pressed Ctrl-C, or no dialog could be shown.
    case cancelled = 5
    case wrongPassword = 6
    /// Not allowed, or not without a decision that the message names.
    case refused = 7
    /// No provider answers, or it ended.
    case noProvider = 8
    /// A file is damaged, or of another format.
    case badData = 9
    /// A file could not be read or written.
    case inputOutput = 10
    /// Several items or keychains are meant; they are listed.
    case ambiguous = 11
    /// The configuration has mistakes, which are listed.
    case mistakes = 12
}

/// An error that ends `keychainctl` with a status and one line on standard error.
package struct CommandFailure: Error, CustomStringConvertible, Sendable {
    package let status: ExitStatus
    /// What happened, and what to do about it.
    ///
    /// Contains no secret; names of others are escaped with `visible`.
    package let text: Text

    package init(_ status: ExitStatus, _ text: Text) {
        self.status = status
        self.text = text
    }

    package init(_ status: ExitStatus, _ phrase: Phrase) {
        self.init(status, Text(phrase))
    }

    /// The text in the language of this process.
    package var message: String { text.localized }

    package var description: String { message }
}
