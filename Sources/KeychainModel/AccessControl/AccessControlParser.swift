/// Reads an access control's tokens, by recursive descent.
struct AccessControlParser {
    private let tokens: [(token: AccessControlToken, place: Int)]
    private let maximumDepth: Int
    private var position = 0
    private var depth = 0

    /// Prepares to read a text, whose length the caller has bounded.
    init(text: String, maximumDepth: Int) throws(AccessControlError) {
        tokens = try AccessControlScanner.tokens(of: text)
        self.maximumDepth = maximumDepth
    }

    /// Reads all of the text.
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
        guard take(.opening) else {
            guard position < tokens.count, case .constraint(let constraint) = tokens[position].token else {
                throw unexpected(insteadOf: "a constraint or “(”")
            }
            position += 1
            return .constraint(constraint)
        }
        guard depth < maximumDepth else {
            throw AccessControlError(.tooDeep, reason: "more than \(maximumDepth) parentheses are open at a time")
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
            return AccessControlError(.syntax, reason: "the access control ends where \(expected) has to come")
        }
        let found = tokens[position]
        return AccessControlError(
            .syntax,
            reason: "“\(found.token)” at byte \(found.place), where \(expected) has to come"
        )
    }
}
