import KeychaindAuthentication
import KeychaindModel
import Testing

struct VerdictTableTests {
    private static let allProofs: [Set<Factor>] = (0..<16).map { bits in
        Set(Factor.allCases.filter { bits >> Int($0.rawValue) & 1 == 1 })
    }

    private func outcome(of verdict: Verdict) -> Scenario.Expectation {
        switch verdict {
        case .granted: .released
        case .mustAuthenticate: .asks
        case .denied(let error): .refused(error.code.rawValue)
        }
    }

    /// Whether the alternatives are exactly those that complete the proofs.
    private func areComplete(_ alternatives: [FactorSet], _ scenario: Scenario) -> Bool {
        let sets = alternatives.map { Set($0.factors) }
        guard sets.allSatisfy({ !$0.isEmpty && $0.isSubset(of: scenario.showable) }) else { return false }
        return Self.allProofs.filter { $0.isSubset(of: scenario.showable) }.allSatisfy { shown in
            // A finger of the item's set is an enrolled finger.
            let shown = shown.contains(.biometryCurrentSet) ? shown.union([.biometryAny]) : shown
            let suffices = scenario.control.isSatisfied(scenario.known.union(shown))
            return suffices == sets.contains { $0.isSubset(of: shown) }
        }
    }

    @Test(arguments: Scenario.Control.all.indices)
    func verdict_everyCombination_isTheExpectedOne(control: Int) throws {
        var count = 0
        var failures: [String] = []
        var thrown: (any Error)?
        Scenario.forEach(of: Scenario.Control.all[control]) { scenario in
            do {
                count += 1
                let verdict = try scenario.verdict()
                if outcome(of: verdict) != scenario.expectation {
                    failures.append("\(verdict) instead of \(scenario.expectation): \(scenario)")
                }
                if case .mustAuthenticate(let plan) = verdict, !areComplete(plan.alternatives, scenario) {
                    failures.append("\(plan): \(scenario)")
                }
            } catch {
                thrown = error
            }
        }
        #expect(thrown == nil)
        #expect(count == 4 * 6 * 64)
        #expect(failures.isEmpty, "\(failures.count), such as \(failures.prefix(3).joined(separator: "\n"))")
    }

    @Test
    func table_allOutcomes_occur() {
        var seen: Set<Scenario.Expectation> = []
        for control in Scenario.Control.all {
            Scenario.forEach(of: control) { seen.insert($0.expectation) }
        }
        // Released, asked, refused for seven reasons.
        #expect(seen.count == 9, "\(seen)")
    }
}
