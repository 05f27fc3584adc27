/// Who may have an item: constraints joined by `and` and `or`, as the attribute `keychain:access-control` has them.
///
/// ```
/// expression  = conjunction { "or" conjunction }
/// conjunction = atom { "and" atom }
/// atom        = constraint | "(" expression ")"
/// ```
///
/// Words are apart by spaces or tabs, and written exactly as here. Two access controls are equal when they are written alike but for
/// spaces, parentheses without effect and repetitions; whether they ask for the same, their policies say.
package struct AccessControl: Hashable, Sendable {
    /// The longest text, in bytes.
    package static let maximumLength = 256

    /// How many parentheses may be open at a time.
    package static let maximumDepth = 16

    /// What is asked for, in normal form.
    package let policy: Policy

    private let expression: AccessControlExpression

    /// Reads the text of the attribute.
    package init(parsing text: some StringProtocol) throws(AccessControlError) {
        // Before anything is copied: a text of megabytes is not an access control.
        guard text.utf8.count <= Self.maximumLength else {
            throw AccessControlError(
                .tooLong,
                reason: "an access control has at most \(Self.maximumLength) bytes, not \(text.utf8.count)"
            )
        }
        var parser = try AccessControlParser(text: String(text), maximumDepth: Self.maximumDepth)
        self.init(try parser.parse())
    }

    /// Asks for a single constraint.
    package init(_ constraint: Constraint) {
        self.init(.constraint(constraint))
    }

    private init(_ expression: AccessControlExpression) {
        self.expression = expression
        policy = expression.policy
    }
}

extension AccessControl: CustomStringConvertible {
    /// The text in canonical form, which reads back as the same access control.
    package var description: String { expression.description }
}
