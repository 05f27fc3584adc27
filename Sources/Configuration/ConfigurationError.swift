/// What is wrong with a configuration, and where.
///
/// Two errors are equal if their codes and places are.
package struct ConfigurationError: Error, Equatable {
    /// What kind of mistake it is.
    package let code: Code

    /// The mistake in words.
    package let reason: String

    /// Where it is.
    package let place: Place

    /// A place in the text; lines and columns count from 1.
    package struct Place: Hashable, Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    package init(_ code: Code, at place: Place, reason: String) {
        self.code = code
        self.reason = reason
        self.place = place
    }

    /// Compares code and place.
    package static func == (left: ConfigurationError, right: ConfigurationError) -> Bool {
        left.code == right.code && left.place == right.place
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// As compilers say it: line, column, reason.
    package var description: String { "\(place.line):\(place.column): \(reason)" }
}

extension ConfigurationError {
    /// A kind of mistake, open to new ones.
    package struct Code: Hashable, Sendable {
        private enum Kind {
            case syntax
            case unknownName
            case wrongType
            case outOfRange
            case tooLarge
        }

        private let kind: Kind

        /// It is not TOML.
        package static let syntax = Code(kind: .syntax)

        /// There is no such setting.
        package static let unknownName = Code(kind: .unknownName)

        /// The setting takes another type of value.
        package static let wrongType = Code(kind: .wrongType)

        /// The setting does not take this value.
        package static let outOfRange = Code(kind: .outOfRange)

        /// The text is longer than a configuration may be.
        package static let tooLarge = Code(kind: .tooLarge)
    }
}
