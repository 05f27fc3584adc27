struct AccessControlParser {
    private let tokens: [(token: AccessControlToken, place: Int)]
    private let maximumDepth: Int
    private var position = 0
    private var depth = 0

    init(text: String, maximumDepth: Int) throws(AccessControlError) {
        tokens = try AccessControlScanner.tokens(of: text)
        self.maximumDepth = maximumDepth
    }

    mutating func parse() throws(AccessControlError) -> AccessControlExpression {
        guard !tokens.isEmpty else {
            throw AccessControlError(.syntax, reason: "the access control is empty")
        }
        let expression = try disjunction()
        guard position == tokens.count else { throw unexpected(insteadOf: "“and”, “or” or the end") }
        return expression
    }

    private mutating func disjunction() throws(AccessControlError) -> AccessControlExpression {
        var operands = [try conjunction()]
        while take(.or) {
            operands.append(try conjunction())
        }
        return .any(of: operands)
    }

    private mutating func conjunction() throws(AccessControlError) -> AccessControlExpression {
        var operands = [try atom()]
        while take(.and) {
            operands.append(try atom())
        }
        return .all(of: operands)
    }

    private mutating func atom() throws(AccessControlError) -> AccessControlExpression {
        if take(.privateKeyUsage) { return .privateKeyUsage }
        guard take(.opening) else {
            guard position < tokens.count, case .constraint(let constraint) = tokens[position].token else {
                throw unexpected(insteadOf: "a constraint or “(”")
            }
            position += 1
            return .constraint(constraint)
        }
        guard depth < maximumDepth else {
            throw AccessControlError(.tooDeep, reason: "parentheses are nested more than \(maximumDepth) deep")
        }
        depth += 1
        let expression = try disjunction()
        guard take(.closing) else { throw unexpected(insteadOf: "“and”, “or” or “)”") }
        depth -= 1
        return expression
    }

    private mutating func take(_ token: AccessControlToken) -> Bool {
        guard position < tokens.count, tokens[position].token == token else { return false }
        position += 1
        return true
    }

    private func unexpected(insteadOf expected: String) -> AccessControlError {
        guard position < tokens.count else {
            return AccessControlError(.syntax, reason: "the access control ends where \(expected) is expected")
        }
        let found = tokens[position]
        return AccessControlError(
            .syntax,
            reason: "found “\(found.token)” at byte \(found.place) instead of \(expected)"
        )
    }
}

/// A mistake in the reserved attributes of an item, which is not stored then; errors with the same code are equal.
package struct AccessControlError: Error, Equatable {
    package let code: Code

    /// For the author of the program; names the place of the mistake.
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (left: AccessControlError, right: AccessControlError) -> Bool {
        left.code == right.code
    }
}

extension AccessControlError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

extension AccessControlError {
    package enum Code: String, Sendable {
        case tooLong

        /// Parentheses are nested too deeply.
        case tooDeep

        /// The words are known but do not form an access control.
        case syntax

        case unknownConstraint

        /// The value of another reserved attribute is invalid.
        case invalidValue

        /// Valid values exclude each other.
        case contradiction
    }
}
