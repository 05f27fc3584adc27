import KeychainModel
import TestSupport
import Testing

struct PolicyPropertyTests {
    /// Random expressions, with what was made of their text.
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
    func isSatisfied_anyExpressionAndProofs_isTheExpressionsValue() throws {
        for (expression, parsed) in try samples(3000, seed: 1) {
            let answers = RandomExpression.allProofs.map { parsed.policy.isSatisfied(by: FactorSet($0)) }
            #expect(answers == table(expression), "\(parsed)")
        }
    }

    @Test
    func alternatives_anyExpression_areMinimal() throws {
        for (_, parsed) in try samples(1000, seed: 2) {
            let alternatives = parsed.policy.alternatives
            #expect(!alternatives.isEmpty)
            for alternative in alternatives {
                #expect(!alternative.isEmpty)
                for factor in alternative.factors {
                    let less = alternative.subtracting(FactorSet(factor))
                    #expect(!parsed.policy.isSatisfied(by: less), "\(parsed) does not need \(factor)")
                }
                for other in alternatives where other != alternative {
                    #expect(!other.isSubset(of: alternative.implied), "\(parsed) says the same twice")
                }
            }
        }
    }

    @Test
    func equality_twoExpressions_isThatOfTheirTables() throws {
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
    func remaining_anyExpressionAndProofs_isWhatCompletesThem() throws {
        for (expression, parsed) in try samples(300, seed: 8) {
            for proved in RandomExpression.allProofs {
                let remaining = parsed.policy.remaining(after: FactorSet(proved))
                #expect((remaining == nil) == expression.isTrue(proved))
                let answers = RandomExpression.allProofs.map { remaining?.isSatisfied(by: FactorSet($0)) ?? true }
                #expect(answers == RandomExpression.allProofs.map { expression.isTrue(proved.union($0)) })
            }
        }
    }

    @Test
    func keyAlternatives_anyExpression_openExactlyWithKeysThatSatisfyIt() throws {
        for (expression, parsed) in try samples(1000, seed: 5) {
            // Only the daemon can enforce what can be had with fingers alone.
            let fingersSuffice = expression.isTrue([.biometryAny, .biometryCurrentSet])
            guard let keys = parsed.policy.keyAlternatives else {
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
    func description_anyExpression_readsBackTheSame() throws {
        for (_, parsed) in try samples(1000, seed: 6) {
            let again = try AccessControl(parsing: parsed.description)
            #expect(again == parsed)
            #expect(again.description == parsed.description)
            #expect(again.policy == parsed.policy)
        }
    }

    @Test
    func parsing_damagedText_isRefusedOrRead_neverMore() throws {
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
