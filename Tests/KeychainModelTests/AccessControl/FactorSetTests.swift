import KeychainModel
import Testing

struct FactorSetTests {
    @Test
    func factors_anySet_areItsElements() {
        for proofs in RandomExpression.allProofs {
            #expect(Set(FactorSet(proofs).factors) == proofs)
        }
        #expect(FactorSet(rawValue: 0b1111_0000).factors.isEmpty)
    }

    @Test
    func implied_currentSet_addsAnyFinger() {
        #expect(FactorSet.biometryCurrentSet.implied == [.biometryAny, .biometryCurrentSet])
        #expect(FactorSet.biometryAny.implied == .biometryAny)
        #expect(
            ([.passcode, .biometryCurrentSet] as FactorSet).implied == [.passcode, .biometryAny, .biometryCurrentSet]
        )
    }

    @Test
    func reduced_bothFingers_keepsTheStrongerOne() {
        #expect(FactorSet.biometry.reduced == .biometryCurrentSet)
        #expect(FactorSet.biometryAny.reduced == .biometryAny)
        for proofs in RandomExpression.allProofs {
            #expect(FactorSet(proofs).reduced.implied == FactorSet(proofs).implied)
        }
    }
}
