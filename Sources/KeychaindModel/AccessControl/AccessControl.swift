/// The access control of an item: constraints joined by `and` and `or`, as in the attribute `keychain:access-control`.
///
/// ```
/// expression  = conjunction { "or" conjunction }
/// conjunction = atom { "and" atom }
/// atom        = constraint | "privateKeyUsage" | "(" expression ")"
/// ```
///
/// `privateKeyUsage` says that the item is a private key for use. It requires no proof, so it is no alternative to one:
/// it stands alone or is joined by `and`.
///
/// Words are case-sensitive and separated by spaces or tabs. Access controls are equal if their texts differ only in
/// spaces, redundant parentheses and repetitions. To compare what they require, compare their policies.
package struct AccessControl: Hashable, Sendable {
    /// In bytes.
    package static let maximumLength = 256

    package static let maximumDepth = 16

    /// The required proofs, in normal form; nil for none.
    package let policy: Policy?

    /// Whether the item is a private key for use.
    package let isForPrivateKeyUsage: Bool

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
        let expression = try parser.parse()
        guard !expression.hasPrivateKeyUsageInAlternative else {
            throw AccessControlError(
                .contradiction,
                reason: "privateKeyUsage requires nothing and is no alternative; join it by “and”"
            )
        }
        self.init(expression)
    }

    package init(_ constraint: Constraint) {
        self.init(.constraint(constraint))
    }

    private init(_ expression: AccessControlExpression) {
        self.expression = expression
        policy = expression.policy
        isForPrivateKeyUsage = expression.hasPrivateKeyUsage
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
    case privateKeyUsage
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

    /// Nil if nothing is required.
    var policy: Policy? {
        switch self {
        case .constraint(let constraint): constraint.policy
        case .privateKeyUsage: nil
        case .all(let operands): Self.folded(operands) { $0.and($1) }
        case .any(let operands): Self.folded(operands) { $0.or($1) }
        }
    }

    var hasPrivateKeyUsage: Bool {
        switch self {
        case .constraint: false
        case .privateKeyUsage: true
        case .all(let operands), .any(let operands): operands.contains { $0.hasPrivateKeyUsage }
        }
    }

    var hasPrivateKeyUsageInAlternative: Bool {
        switch self {
        case .constraint, .privateKeyUsage: false
        case .all(let operands): operands.contains { $0.hasPrivateKeyUsageInAlternative }
        case .any: hasPrivateKeyUsage
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

    private static func folded(_ operands: [AccessControlExpression], by join: (Policy, Policy) -> Policy) -> Policy? {
        let policies = operands.compactMap(\.policy)
        guard let first = policies.first else { return nil }
        return policies.dropFirst().reduce(first, join)
    }
}

extension AccessControlExpression: CustomStringConvertible {
    var description: String {
        switch self {
        case .constraint(let constraint):
            constraint.rawValue
        case .privateKeyUsage:
            AccessControlToken.privateKeyUsage.description
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
