/// A failure to ask a person; cancelling is an answer, not an error.
///
/// Equality compares only the codes. The reason holds no secret.
package struct PromptError: Error, Equatable {
    package enum Code: Hashable, Sendable {
        /// The prompter is missing, and cannot be started.
        case unavailable

        case crashed
        case timedOut

        /// The prompter closed its dialog without an answer, such as when the screen was locked.
        case interrupted

        /// The prompter refused, or broke its protocol.
        case failed

        /// The queue of questions is full.
        case tooMany

        /// The question needs a trusted dialog, and a program of the user may be behind this one.
        case notTrusted
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (left: PromptError, right: PromptError) -> Bool {
        left.code == right.code
    }
}

extension PromptError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

/// The reason why a conversation ends without the person.
package enum Cancellation: Hashable, Sendable {
    /// The program cancelled its request, or left the bus.
    case byProgram
    /// The daemon allows no questions, such as while the session is locked.
    case bySystem(reason: String)
}
