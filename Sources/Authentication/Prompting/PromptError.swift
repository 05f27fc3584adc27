/// Why nobody could be asked, or no answer came.
///
/// A dismissal is an answer and no error. Two errors are equal if their codes are; the reason is for logs and holds no secret.
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
            case failed
        }

        private let kind: Kind

        /// There is no such prompter, and none can be started.
        package static let unavailable = Code(kind: .unavailable)

        /// The prompter ended while it was asked.
        package static let crashed = Code(kind: .crashed)

        /// No answer came in the time that there was.
        package static let timedOut = Code(kind: .timedOut)

        /// The prompter refused, or said what its protocol does not allow.
        package static let failed = Code(kind: .failed)

        /// The name of the code.
        package var description: String { kind.rawValue }
    }
}
