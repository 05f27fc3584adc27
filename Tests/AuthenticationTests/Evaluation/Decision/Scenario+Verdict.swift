import KeychaindAuthentication
import KeychaindModel

extension Scenario {
    private static let setOfToday = BiometrySet(hash: [UInt8](repeating: 1, count: 32))
    private static let setOfYesterday = BiometrySet(hash: [UInt8](repeating: 2, count: 32))

    /// The verdict of the code under test.
    func verdict() throws -> Verdict {
        let policy = try control.text.flatMap { try AccessControl(parsing: $0).policy }
        let requirement = Requirement(
            policy: policy,
            boundSet: isSameSet ? Scenario.setOfToday : Scenario.setOfYesterday
        )
        let state = AuthenticationState(
            biometry: biometry,
            isBiometryLocked: isLockedOut,
            isPasscodeSet: isPasscodeSet,
            prompterTrust: hasPrompter ? .trusted : nil,
            isSessionLocked: isSessionLocked,
            isInteractionAllowed: isInteractionAllowed
        )
        return Verdict(on: requirement, proved: proofs.counting(for: requirement), in: state)
    }

    private var biometry: BiometryAvailability {
        switch reader {
        case .ready: .available(Scenario.setOfToday)
        case .unavailable: .notAvailable(reason: "no service")
        case .nothingEnrolled: .notEnrolled
        case .unplugged: .disconnected
        }
    }

    private var proofs: Proofs {
        switch context {
        case .none: .none
        case .finger: Proofs(factors: .biometryAny, matchedSet: Scenario.setOfToday)
        case .passcodeWithoutKey: Proofs(factors: .passcode)
        case .passcodeWithKey: Proofs(factors: .passcode, keys: .passcode)
        case .fingerAndPasscodeWithKey:
            Proofs(factors: [.biometryAny, .passcode], keys: .passcode, matchedSet: Scenario.setOfToday)
        case .applicationPasswordWithKey: Proofs(factors: .applicationPassword, keys: .applicationPassword)
        }
    }
}
