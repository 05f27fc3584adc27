import Foundation
import LocalAuthentication
import Testing

struct ErrorTests {
    private static let thrown = NSError(domain: LAErrorDomain, code: LAError.userCancel.rawValue)

    private func fail(_ error: any Error = thrown) throws {
        throw error
    }

    @Test("An error is caught as an LAError, an NSError, and by its code")
    func error_isCaughtInEachWay() {
        do {
            try fail()
        } catch let error as LAError {
            #expect(error.code == .userCancel)
            #expect((error as NSError).code == LAError.userCancel.rawValue)
        } catch {
            Issue.record("not an LAError")
        }
        do {
            try fail()
        } catch LAError.userFallback {
            Issue.record("another code")
        } catch LAError.userCancel {
        } catch {
            Issue.record("not caught by its code")
        }
        do {
            try fail()
        } catch let error as NSError {
            #expect(error.domain == LAErrorDomain)
            #expect(error.code == -2)
        }
    }

    @Test("An error that the program creates behaves the same")
    func error_made_isCaught() {
        do {
            try fail(LAError(.biometryLockout))
        } catch let error as LAError {
            #expect(error.code == .biometryLockout)
            #expect((error as NSError).domain == "com.apple.LocalAuthentication")
        } catch {
            Issue.record("not an LAError")
        }
        let code = LAError.Code.systemCancel
        switch code {
        case .authenticationFailed: Issue.record("another code")
        case .systemCancel: break
        default: Issue.record("another code")
        }
    }

    @Test("Errors of other domains and unknown codes are not LAErrors")
    func error_other_isNone() {
        let others = [
            NSError(domain: NSCocoaErrorDomain, code: -2), NSError(domain: LAErrorDomain, code: 12_345),
            NSError(domain: LAErrorDomain, code: 0),
        ]
        for other in others {
            #expect(((other as any Error) as? LAError) == nil)
        }
    }

    @Test(
        "The codes are Apple's",
        arguments: [
            (LAError.authenticationFailed, -1), (LAError.userCancel, -2), (LAError.userFallback, -3),
            (LAError.systemCancel, -4), (LAError.passcodeNotSet, -5), (LAError.biometryNotAvailable, -6),
            (LAError.biometryNotEnrolled, -7), (LAError.biometryLockout, -8), (LAError.appCancel, -9),
            (LAError.invalidContext, -10), (LAError.companionNotAvailable, -11), (LAError.biometryNotPaired, -12),
            (LAError.biometryDisconnected, -13), (LAError.invalidDimensions, -14), (LAError.notInteractive, -1004),
        ] as [(LAError.Code, Int)]
    )
    func code_isApples(code: LAError.Code, number: Int) {
        #expect(code.rawValue == number && LAError.Code(rawValue: number) == code)
        #expect(LAError.Code.allCases.count { $0 == code } == 1 && LAError.Code.allCases.count == 15)
        #expect(LAError(code).errorCode == number)
        #expect(LAError(code) == LAError(code))
    }

    @Test("The numbers of Apple's header are those of the codes and policies")
    func number_isOfTheCode() {
        let errors: [(Int32, LAError.Code)] = [
            (kLAErrorAuthenticationFailed, .authenticationFailed), (kLAErrorUserCancel, .userCancel),
            (kLAErrorUserFallback, .userFallback), (kLAErrorSystemCancel, .systemCancel),
            (kLAErrorPasscodeNotSet, .passcodeNotSet), (kLAErrorBiometryNotAvailable, .biometryNotAvailable),
            (kLAErrorBiometryNotEnrolled, .biometryNotEnrolled), (kLAErrorBiometryLockout, .biometryLockout),
            (kLAErrorAppCancel, .appCancel), (kLAErrorInvalidContext, .invalidContext),
            (kLAErrorCompanionNotAvailable, .companionNotAvailable), (kLAErrorBiometryNotPaired, .biometryNotPaired),
            (kLAErrorBiometryDisconnected, .biometryDisconnected), (kLAErrorInvalidDimensions, .invalidDimensions),
            (kLAErrorNotInteractive, .notInteractive),
        ]
        #expect(errors.count == LAError.Code.allCases.count)
        for (number, code) in errors { #expect(Int(number) == code.rawValue) }
        let policies: [(Int32, LAPolicy)] = [
            (kLAPolicyDeviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometrics),
            (kLAPolicyDeviceOwnerAuthentication, .deviceOwnerAuthentication),
            (kLAPolicyDeviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithCompanion),
            (
                kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion,
                .deviceOwnerAuthenticationWithBiometricsOrCompanion
            ),
        ]
        for (number, policy) in policies { #expect(LAPolicy(rawValue: Int(number)) == policy) }
    }

    // Deprecated, so that the names themselves give no warnings.
    @available(*, deprecated)
    @Test("Older names are the same codes")
    func code_olderNames() {
        let names: [(LAError.Code, LAError.Code)] = [
            (.touchIDNotAvailable, .biometryNotAvailable), (.touchIDNotEnrolled, .biometryNotEnrolled),
            (.touchIDLockout, .biometryLockout), (.watchNotAvailable, .companionNotAvailable),
            (LAError.touchIDNotAvailable, .biometryNotAvailable), (LAError.touchIDNotEnrolled, .biometryNotEnrolled),
            (LAError.touchIDLockout, .biometryLockout), (LAError.watchNotAvailable, .companionNotAvailable),
        ]
        for (old, new) in names { #expect(old == new) }
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch == .deviceOwnerAuthenticationWithCompanion)
        let numbers: [(Int32, Int32)] = [
            (kLAErrorTouchIDNotAvailable, kLAErrorBiometryNotAvailable),
            (kLAErrorTouchIDNotEnrolled, kLAErrorBiometryNotEnrolled),
            (kLAErrorTouchIDLockout, kLAErrorBiometryLockout),
            (kLAErrorWatchNotAvailable, kLAErrorCompanionNotAvailable),
            (kLAPolicyDeviceOwnerAuthenticationWithWatch, kLAPolicyDeviceOwnerAuthenticationWithCompanion),
            (
                kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch,
                kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion
            ),
        ]
        for (old, new) in numbers { #expect(old == new) }
    }
}
