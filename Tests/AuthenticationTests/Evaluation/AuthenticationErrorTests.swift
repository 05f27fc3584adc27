import KeychaindAuthentication
import Testing

struct AuthenticationErrorTests {
    @Test
    func code_numbers_areApples() {
        // The numbers of LAError.Code.
        let numbers: [(AuthenticationError.Code, Int32, String)] = [
            (.authenticationFailed, -1, "authenticationFailed"), (.userCancel, -2, "userCancel"),
            (.userFallback, -3, "userFallback"), (.systemCancel, -4, "systemCancel"),
            (.passcodeNotSet, -5, "passcodeNotSet"), (.biometryNotAvailable, -6, "biometryNotAvailable"),
            (.biometryNotEnrolled, -7, "biometryNotEnrolled"), (.biometryLockout, -8, "biometryLockout"),
            (.appCancel, -9, "appCancel"), (.invalidContext, -10, "invalidContext"),
            (.biometryNotPaired, -12, "biometryNotPaired"), (.biometryDisconnected, -13, "biometryDisconnected"),
            (.notInteractive, -1004, "notInteractive"),
        ]
        for (code, number, name) in numbers {
            #expect(code.rawValue == number)
            #expect(code.name == name)
            #expect(AuthenticationError.Code(rawValue: number) == code)
        }
        #expect(AuthenticationError.Code.allCases.count == numbers.count)
    }

    @Test(arguments: [0, 1, -11, -14, -1003, Int32.min, Int32.max])
    func code_otherNumber_isNone(number: Int32) {
        #expect(AuthenticationError.Code(rawValue: number) == nil)
    }

    @Test
    func equality_sameCode_whateverTheReason() {
        let first = AuthenticationError(.userCancel, reason: "a")
        let second = AuthenticationError(.userCancel, reason: "b")
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first != AuthenticationError(.appCancel, reason: "a"))
        #expect(first.description == "userCancel: a")
    }

    @Test
    func availability_notAvailable_hasItsError() {
        #expect(BiometryAvailability.available(BiometrySet(hash: [1])).error == nil)
        #expect(BiometryAvailability.notAvailable(reason: "no service").error?.code == .biometryNotAvailable)
        #expect(BiometryAvailability.notAvailable(reason: "no service").error?.reason == "no service")
        #expect(BiometryAvailability.notEnrolled.error?.code == .biometryNotEnrolled)
        #expect(BiometryAvailability.disconnected.error?.code == .biometryDisconnected)
        #expect(BiometryAvailability.disconnected.set == nil)
        #expect(BiometryAvailability.available(BiometrySet(hash: [1])).set == BiometrySet(hash: [1]))
    }

    @Test
    func hint_each_hasWordsOfItsOwn() {
        #expect(Set(BiometryHint.allCases.map(\.text)).count == BiometryHint.allCases.count)
    }
}
