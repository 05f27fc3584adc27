/// The tree behind an access control's text.
///
/// `all` and `any` have two operands or more, of which none is of the same kind as the whole: the functions that build them see to that.
indirect enum AccessControlExpression: Hashable, Sendable {
    case constraint(Constraint)
    case all([AccessControlExpression])
    case any([AccessControlExpression])

    /// Joins operands by `and`; there must be one at least.
    static func all(of operands: [AccessControlExpression]) -> AccessControlExpression {
        let flat = operands.flatMap { operand in
            if case .all(let inner) = operand { inner } else { [operand] }
        }
        return joined(flat, by: AccessControlExpression.all)
    }

    /// Joins operands by `or`; there must be one at least.
    static func any(of operands: [AccessControlExpression]) -> AccessControlExpression {
        let flat = operands.flatMap { operand in
            if case .any(let inner) = operand { inner } else { [operand] }
        }
        return joined(flat, by: AccessControlExpression.any)
    }

    /// What satisfies it.
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
    /// The text, with the parentheses that it needs.
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
