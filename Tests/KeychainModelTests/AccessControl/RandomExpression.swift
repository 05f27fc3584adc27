import KeychainModel
import TestSupport

/// A boolean expression of constraints, with the meaning that the documentation gives them and none of the code's ways to find it.
indirect enum RandomExpression {
    case constraint(Constraint)
    case and(RandomExpression, RandomExpression)
    case or(RandomExpression, RandomExpression)

    /// Makes an expression that has so many constraints.
    static func make(constraints: Int, using generator: inout SeededGenerator) -> RandomExpression {
        guard constraints > 1 else { return .constraint(Constraint.allCases.randomElement(using: &generator)!) }
        let left = Int.random(in: 1..<constraints, using: &generator)
        let first = make(constraints: left, using: &generator)
        let second = make(constraints: constraints - left, using: &generator)
        return Bool.random(using: &generator) ? .and(first, second) : .or(first, second)
    }

    /// Whether the proofs satisfy it.
    func isTrue(_ proofs: Set<Factor>) -> Bool {
        let finger = proofs.contains(.biometryAny) || proofs.contains(.biometryCurrentSet)
        switch self {
        case .constraint(.userPresence): return finger || proofs.contains(.passcode)
        case .constraint(.biometryAny): return finger
        case .constraint(.biometryCurrentSet): return proofs.contains(.biometryCurrentSet)
        case .constraint(.devicePasscode): return proofs.contains(.passcode)
        case .constraint(.applicationPassword): return proofs.contains(.applicationPassword)
        case .and(let first, let second): return first.isTrue(proofs) && second.isTrue(proofs)
        case .or(let first, let second): return first.isTrue(proofs) || second.isTrue(proofs)
        }
    }

    /// The expression in words, with parentheses where they are needed and here and there where not.
    func text(using generator: inout SeededGenerator) -> String {
        let gap = { (generator: inout SeededGenerator) in [" ", "  ", "\t"].randomElement(using: &generator)! }
        let text: String
        switch self {
        case .constraint(let constraint):
            text = constraint.rawValue
        case .and(let first, let second):
            let operands = [first, second].map { operand in
                if case .or = operand {
                    "(" + operand.text(using: &generator) + ")"
                } else {
                    operand.text(using: &generator)
                }
            }
            text = operands[0] + gap(&generator) + "and" + gap(&generator) + operands[1]
        case .or(let first, let second):
            text =
                first.text(using: &generator) + gap(&generator) + "or" + gap(&generator)
                + second.text(using: &generator)
        }
        guard Int.random(in: 0..<8, using: &generator) == 0 else { return text }
        return "(" + ["", " "].randomElement(using: &generator)! + text + ")"
    }

    /// Every set of proofs.
    static let allProofs: [Set<Factor>] = (0..<16).map { bits in
        Set(Factor.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element))
    }
}

extension FactorSet {
    /// The same set, as the code under test has it.
    init(_ proofs: Set<Factor>) {
        self = proofs.reduce(into: []) { $0.insert(FactorSet($1)) }
    }
}
