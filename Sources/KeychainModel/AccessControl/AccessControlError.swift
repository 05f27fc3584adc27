/// Why an item's reserved attributes are refused; nothing is stored with them.
///
/// Two errors are equal if their codes are; the reason is for the program's author.
package struct AccessControlError: Error, Equatable {
    /// What kind of mistake it is.
    package let code: Code

    /// The mistake in words, with its place.
    package let reason: String

    /// Creates an error of a kind, with a reason in words.
    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Compares the codes only.
    package static func == (left: AccessControlError, right: AccessControlError) -> Bool {
        left.code == right.code
    }
}

extension AccessControlError: CustomStringConvertible {
    /// The code and the reason.
    package var description: String { "\(code): \(reason)" }
}

extension AccessControlError {
    /// A kind of mistake, open to new ones.
    package struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Kind: String {
            case tooLong
            case tooDeep
            case syntax
            case unknownConstraint
            case invalidValue
            case contradiction
        }

        private let kind: Kind

        /// The text is longer than any value of its kind.
        package static let tooLong = Code(kind: .tooLong)

        /// Too many parentheses in each other.
        package static let tooDeep = Code(kind: .tooDeep)

        /// The words are known, but do not make an access control.
        package static let syntax = Code(kind: .syntax)

        /// A word that is no constraint.
        package static let unknownConstraint = Code(kind: .unknownConstraint)

        /// The value of another reserved attribute is none that it can have.
        package static let invalidValue = Code(kind: .invalidValue)

        /// Each value is good, but they exclude each other.
        package static let contradiction = Code(kind: .contradiction)

        /// All codes.
        package static let allCases = [tooLong, tooDeep, syntax, unknownConstraint, invalidValue, contradiction]

        /// The name of the code.
        package var description: String { kind.rawValue }
    }
}
