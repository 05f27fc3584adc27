import Gcrypt
import Testing

@Suite struct GcryptErrorTests {
    @Test func equality_sameCodeOtherReason_isEqual() {
        #expect(GcryptError(.outOfMemory, reason: "one") == GcryptError(.outOfMemory, reason: "another"))
    }

    @Test func equality_otherCodeSameReason_isNotEqual() {
        #expect(GcryptError(.outOfMemory, reason: "one") != GcryptError(.outOfLockedMemory, reason: "one"))
    }

    @Test func description_hasCodeAndReason() {
        #expect("\(GcryptError(.invalidPublicKey, reason: "too small"))" == "invalidPublicKey: too small")
    }
}
