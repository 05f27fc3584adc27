/// Why nobody could be asked, or no answer came.
///
/// To cancel is an answer and no error. Two errors are equal if their codes are; the reason is for logs and holds no secret.
package struct PromptError: Error, Equatable {
    /// What kind of failure it was.
    package let code: Code

    /// The failure in words, for a log line.
    package let reason: String

    /// Creates an error of a kind, with a reason in words.
    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Compares the codes only.
    package static func == (left: PromptError, right: PromptError) -> Bool {
        left.code == right.code
    }
}

extension PromptError: CustomStringConvertible {
    /// The code and the reason.
    package var description: String { "\(code): \(reason)" }
}

extension PromptError {
    /// A kind of failure, open to new ones.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case unavailable
            case crashed
            case timedOut
            case interrupted
            case failed
            case tooMany
            case notTrusted
        }

        private let kind: Kind

        /// There is no such prompter, and none can be started.
        package static let unavailable = Code(kind: .unavailable)

        /// The prompter ended while it was asked.
        package static let crashed = Code(kind: .crashed)

        /// No answer came in the time that there was.
        package static let timedOut = Code(kind: .timedOut)

        /// The prompter has taken its dialog away without an answer, such as when the screen is locked.
        package static let interrupted = Code(kind: .interrupted)

        /// The prompter refused, or said what its protocol does not allow.
        package static let failed = Code(kind: .failed)

        /// So many questions wait for a person that no more are taken.
        package static let tooMany = Code(kind: .tooMany)

        /// The answer would take no knowledge, and a program of the user may be behind the dialog.
        package static let notTrusted = Code(kind: .notTrusted)

        /// The name of the code.
        package var description: String { kind.rawValue }
    }
}
