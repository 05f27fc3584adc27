/// A failure to ask a person.
///
/// A person who cancels gives an answer; that is no error. Equality compares the codes only. The reason is for logs,
/// and holds no secret.
package struct PromptError: Error, Equatable {
    /// The kinds of failure.
    package enum Code: Hashable, Sendable {
        /// The prompter is not there, and cannot be started.
        case unavailable

        /// The prompter ended while it asked.
        case crashed

        /// The person did not answer in time.
        case timedOut

        /// The prompter has closed its dialog without an answer, such as when the screen was locked.
        case interrupted

        /// The prompter refused, or broke its protocol.
        case failed

        /// The queue of questions is full.
        case tooMany

        /// The question needs a trusted dialog, and a program of the user may be behind this one.
        case notTrusted
    }

    /// The kind of failure.
    package let code: Code

    /// The reason in words.
    package let reason: String

    /// Creates an error.
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

/// Why a conversation was cancelled from outside.
package enum Cancellation: Hashable, Sendable {
    /// The program has cancelled its request, or has left the bus.
    case byProgram
    /// The daemon allows no questions, such as while the session is locked.
    case bySystem(reason: String)
}
