import KeychaindGcrypt
import KeychaindVault
import Testing

@Suite struct VaultErrorTests {
    @Test func equality_comparesCodes() {
        #expect(VaultError(.locked, reason: "a") == VaultError(.locked, reason: "b"))
        #expect(VaultError(.locked, reason: "a") != VaultError(.busy, reason: "a"))
    }

    @Test func codes_haveDistinctNames() {
        let codes = VaultError.Code.allCases
        #expect(Set(codes).count == codes.count)
        #expect(Set(codes.map(String.init(describing:))).count == codes.count)
        #expect(codes.contains(.wrongPassword) && codes.contains(.cryptographyFailed))
    }

    @Test func description_hasCodeAndReason() {
        #expect(VaultError(.storageFull, reason: "no room").description == "storageFull: no room")
    }

    @Test func cipherErrors_failedAuthenticationIsUnreadable() {
        #expect(VaultError(GcryptError(.authenticationFailed, reason: "")).code == .unreadable)
        #expect(VaultError(GcryptError(.outOfLockedMemory, reason: "")).code == .cryptographyFailed)
    }
}
