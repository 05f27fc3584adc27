/// The access control of an item: constraints joined by `and` and `or`, as in the attribute `keychain:access-control`.
///
/// ```
/// expression  = conjunction { "or" conjunction }
/// conjunction = atom { "and" atom }
/// atom        = constraint | "(" expression ")"
/// ```
///
/// Words are case-sensitive and separated by spaces or tabs. Access controls are equal if their texts differ only in
/// spaces, redundant parentheses and repetitions. To compare what they require, compare their policies.
package struct AccessControl: Hashable, Sendable {
    /// In bytes.
    package static let maximumLength = 256

    package static let maximumDepth = 16

    /// The required proofs, in normal form.
    package let policy: Policy

    private let expression: AccessControlExpression

    /// Parses the value of the attribute.
    package init(parsing text: some StringProtocol) throws(AccessControlError) {
        // Checked before anything is copied: a caller may send megabytes.
        guard text.utf8.count <= Self.maximumLength else {
            throw AccessControlError(
                .tooLong,
                reason: "an access control has at most \(Self.maximumLength) bytes, not \(text.utf8.count)"
            )
        }
        var parser = try AccessControlParser(text: String(text), maximumDepth: Self.maximumDepth)
        self.init(try parser.parse())
    }

    package init(_ constraint: Constraint) {
        self.init(.constraint(constraint))
    }

    private init(_ expression: AccessControlExpression) {
        self.expression = expression
        policy = expression.policy
    }
}

extension AccessControl: CustomStringConvertible {
    /// The canonical text, which parses to the same access control.
    package var description: String { expression.description }
}

/// The syntax tree of an access control.
///
/// `all` and `any` have at least two operands, none of the same kind as the whole; the factory functions ensure that.
indirect enum AccessControlExpression: Hashable, Sendable {
    case constraint(Constraint)
    case all([AccessControlExpression])
    case any([AccessControlExpression])

    static func all(of operands: [AccessControlExpression]) -> AccessControlExpression {
        let flat = operands.flatMap { operand in
            if case .all(let inner) = operand { inner } else { [operand] }
        }
        return joined(flat, by: AccessControlExpression.all)
    }

    static func any(of operands: [AccessControlExpression]) -> AccessControlExpression {
        let flat = operands.flatMap { operand in
            if case .any(let inner) = operand { inner } else { [operand] }
        }
        return joined(flat, by: AccessControlExpression.any)
    }

    var policy: Policy {
        switch self {
        case .constraint(let constraint): constraint.policy
        case .all(let operands): Self.folded(operands) { $0.and($1) }
        case .any(let operands): Self.folded(operands) { $0.or($1) }
        }
    }

    private static func joined(
        _ operands: [AccessControlExpression],
        by join: ([AccessControlExpression]) -> AccessControlExpression
    ) -> AccessControlExpression {
        var distinct: [AccessControlExpression] = []
        for operand in operands where !distinct.contains(operand) {
            distinct.append(operand)
        }
        return distinct.count == 1 ? distinct[0] : join(distinct)
    }

    private static func folded(_ operands: [AccessControlExpression], by join: (Policy, Policy) -> Policy) -> Policy {
        operands.dropFirst().reduce(operands[0].policy) { join($0, $1.policy) }
    }
}

extension AccessControlExpression: CustomStringConvertible {
    var description: String {
        switch self {
        case .constraint(let constraint):
            constraint.rawValue
        case .all(let operands):
            operands.map { operand in
                if case .any = operand { "(\(operand))" } else { operand.description }
            }.joined(separator: " and ")
        case .any(let operands):
            operands.map(\.description).joined(separator: " or ")
        }
    }
}

/// A constraint of an access control, by Apple's name.
package enum Constraint: String, CaseIterable, Hashable, Sendable {
    /// Presence of the owner: biometry, or else the passcode.
    case userPresence

    /// Any enrolled finger, including those enrolled later; no fallback to the passcode.
    case biometryAny

    /// A finger enrolled when the item was stored; the item becomes inaccessible once the enrolled set changes.
    case biometryCurrentSet

    /// The passcode, here the password of the login collection; no biometry instead.
    case devicePasscode

    /// A password of the item itself, which the person chooses when a program stores the item.
    case applicationPassword

    package var policy: Policy {
        switch self {
        case .userPresence: Policy(.biometryAny).or(Policy(.passcode))
        case .biometryAny: Policy(.biometryAny)
        case .biometryCurrentSet: Policy(.biometryCurrentSet)
        case .devicePasscode: Policy(.passcode)
        case .applicationPassword: Policy(.applicationPassword)
        }
    }
}
