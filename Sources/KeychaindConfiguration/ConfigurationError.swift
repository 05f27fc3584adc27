/// A mistake in a configuration and its place.
///
/// Errors with the same code and place are equal.
package struct ConfigurationError: Error, Hashable {
    package let code: Code

    package let reason: String

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

    package static func == (left: ConfigurationError, right: ConfigurationError) -> Bool {
        left.code == right.code && left.place == right.place
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(place)
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// The place and the reason, in the format of compilers.
    package var description: String { "\(place.line):\(place.column): \(reason)" }
}

extension ConfigurationError {
    package enum Code: Sendable {
        /// The text is not TOML.
        case syntax

        /// No setting has this name.
        case unknownName

        /// The value has the wrong type.
        case wrongType

        /// The value is out of range.
        case outOfRange

        /// The text exceeds ``Configuration/limit``.
        case tooLarge
    }
}
