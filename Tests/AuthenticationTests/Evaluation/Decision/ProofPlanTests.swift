import KeychaindAuthentication
import KeychaindModel
import Testing

struct ProofPlanTests {
    @Test(
        arguments: [
            ([.biometryAny], true, []), ([.passcode], false, .passcode),
            ([.biometryAny, .passcode], true, .passcode), ([[.biometryAny, .passcode]], true, .passcode),
            ([[.passcode, .applicationPassword]], false, .passcode),
            ([.passcode, .applicationPassword], false, [.passcode, .applicationPassword]),
            ([.biometryCurrentSet, [.passcode, .applicationPassword]], true, .passcode),
            ([[.biometryCurrentSet, .applicationPassword]], true, .applicationPassword),
        ] as [([FactorSet], Bool, FactorSet)]
    )
    func plan_alternatives_sayWhatToShow(alternatives: [FactorSet], touch: Bool, typed: FactorSet) {
        #expect(ProofPlan(alternatives).wantsTouch == touch)
        #expect(ProofPlan(alternatives).typedNext == typed)
    }

    @Test
    func counting_keysThatWereNotProved_areNoKeys() {
        let proofs = Proofs(factors: .biometryAny, keys: .passcode)
        #expect(proofs.keys.isEmpty)
    }
}
