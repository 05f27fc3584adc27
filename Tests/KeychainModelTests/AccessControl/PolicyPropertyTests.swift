import KeychaindModel
import KeychaindTestSupport
import Testing

struct PolicyPropertyTests {
    /// Random expressions with the access controls parsed from their texts.
    private func samples(_ count: Int, seed: UInt64) throws -> [(expression: RandomExpression, parsed: AccessControl)] {
        var generator = SeededGenerator(seed: seed)
        return try (0..<count).compactMap { _ in
            let constraints = Int.random(in: 1...9, using: &generator)
            let expression = RandomExpression.make(constraints: constraints, using: &generator)
            let text = expression.text(using: &generator)
            guard text.utf8.count <= AccessControl.maximumLength else { return nil }
            return (expression, try AccessControl(parsing: text))
        }
    }

    private func table(_ expression: RandomExpression) -> [Bool] {
        RandomExpression.allProofs.map(expression.isTrue)
    }

    @Test
    func isSatisfied_anyProofs_matchesEvaluation() throws {
        for (expression, parsed) in try samples(3000, seed: 1) {
            let policy = try #require(parsed.policy)
            let answers = RandomExpression.allProofs.map { policy.isSatisfied(by: FactorSet($0)) }
            #expect(answers == table(expression), "\(parsed)")
        }
    }

    @Test
    func alternatives_anyExpression_areMinimal() throws {
        for (_, parsed) in try samples(1000, seed: 2) {
            let policy = try #require(parsed.policy)
            let alternatives = policy.alternatives
            #expect(!alternatives.isEmpty)
            for alternative in alternatives {
                #expect(!alternative.isEmpty)
                for factor in alternative.factors {
                    let less = alternative.subtracting(FactorSet(factor))
                    #expect(!policy.isSatisfied(by: less), "\(parsed) does not need \(factor)")
                }
                for other in alternatives where other != alternative {
                    #expect(!other.isSubset(of: alternative.implied), "\(parsed) says the same twice")
                }
            }
        }
    }

    @Test
    func equality_twoExpressions_matchesTruthTables() throws {
        let samples = try samples(150, seed: 3)
        for first in samples {
            for second in samples {
                #expect(
                    (first.parsed.policy == second.parsed.policy)
                        == (table(first.expression) == table(second.expression))
                )
            }
        }
    }

    @Test
    func remaining_anyProofs_completesThem() throws {
        for (expression, parsed) in try samples(300, seed: 8) {
            let policy = try #require(parsed.policy)
            for proved in RandomExpression.allProofs {
                let remaining = policy.remaining(after: FactorSet(proved))
                #expect((remaining == nil) == expression.isTrue(proved))
                let answers = RandomExpression.allProofs.map { remaining?.isSatisfied(by: FactorSet($0)) ?? true }
                #expect(answers == RandomExpression.allProofs.map { expression.isTrue(proved.union($0)) })
            }
        }
    }

    @Test
    func keyAlternatives_anyExpression_openExactlyForSatisfyingKeys() throws {
        for (expression, parsed) in try samples(1000, seed: 5) {
            let policy = try #require(parsed.policy)
            // Only the daemon can enforce a policy that fingers alone satisfy.
            let fingersSuffice = expression.isTrue([.biometryAny, .biometryCurrentSet])
            guard let keys = policy.keyAlternatives else {
                #expect(fingersSuffice)
                continue
            }
            #expect(!fingersSuffice)
            for given in [[.passcode], [.applicationPassword], [.passcode, .applicationPassword]] as [Set<Factor>] {
                let opens = keys.contains { $0.isSubset(of: FactorSet(given)) }
                #expect(opens == expression.isTrue(given.union([.biometryAny, .biometryCurrentSet])), "\(parsed)")
            }
        }
    }

    @Test
    func description_anyExpression_parsesToEqual() throws {
        for (_, parsed) in try samples(1000, seed: 6) {
            let again = try AccessControl(parsing: parsed.description)
            #expect(again == parsed)
            #expect(again.description == parsed.description)
            #expect(again.policy == parsed.policy)
        }
    }

    @Test
    func parsing_damagedText_failsOrSucceeds() throws {
        var generator = SeededGenerator(seed: 7)
        let signs = Array("aoP() \t\u{0}\n\u{e9}\u{1F511}-") + ["and", "or", "userPresence"]
        for _ in 0..<3000 {
            let expression = RandomExpression.make(
                constraints: Int.random(in: 1...5, using: &generator),
                using: &generator
            )
            var text = Array(expression.text(using: &generator)).map(String.init)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0 where text.count > 1: text.remove(at: place)
                case 1: text.insert(String(describing: signs.randomElement(using: &generator)!), at: place)
                default: text.swapAt(place, Int.random(in: 0..<text.count, using: &generator))
                }
            }
            let parsed = Result { () throws(AccessControlError) in try AccessControl(parsing: text.joined()) }
            switch parsed {
            case .success(let accessControl):
                #expect(try AccessControl(parsing: accessControl.description) == accessControl)
            case .failure(let error): #expect(!error.reason.isEmpty)
            }
        }
    }
}

/// A boolean expression of constraints, evaluated as documented, independently of the code under test.
indirect enum RandomExpression {
    case constraint(Constraint)
    case and(RandomExpression, RandomExpression)
    case or(RandomExpression, RandomExpression)

    /// Creates an expression with a number of constraints.
    static func make(constraints: Int, using generator: inout SeededGenerator) -> RandomExpression {
        guard constraints > 1 else { return .constraint(Constraint.allCases.randomElement(using: &generator)!) }
        let left = Int.random(in: 1..<constraints, using: &generator)
        let first = make(constraints: left, using: &generator)
        let second = make(constraints: constraints - left, using: &generator)
        return Bool.random(using: &generator) ? .and(first, second) : .or(first, second)
    }

    /// Whether the proofs satisfy the expression.
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

    /// The text of the expression, with necessary and some redundant parentheses.
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

    /// All sets of proofs.
    static let allProofs: [Set<Factor>] = (0..<16).map { bits in
        Set(Factor.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element))
    }
}

extension FactorSet {
    /// Converts a set for the code under test.
    init(_ proofs: Set<Factor>) {
        self = proofs.reduce(into: []) { $0.insert(FactorSet($1)) }
    }
}
