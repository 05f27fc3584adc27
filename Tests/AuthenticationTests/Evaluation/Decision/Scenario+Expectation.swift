import KeychaindAuthentication
import KeychaindModel

extension Scenario {
    /// The expected result, derived from the factors that people can prove, without normal forms.
    enum Expectation: Hashable {
        case released
        /// A dialog in which a person can succeed, only by proofs that complete the earlier ones.
        case asks
        case refused(Int32)
    }

    var expectation: Expectation {
        // Nobody is asked behind a locked screen, and earlier proofs no longer hold.
        if isSessionLocked && control.text != nil { return .refused(-1004) }

        // Nothing is required, or a context has proved enough.
        if control.text == nil || control.isSatisfied(known) { return .released }

        // All possible proofs would not be enough: the error says why.
        if !control.isSatisfied(known.union(showable)) {
            if control.isSatisfied(known.union(showable).union([.passcode])) { return .refused(-5) }
            switch reader {
            case .unavailable: return .refused(-6)
            case .nothingEnrolled: return .refused(-7)
            case .unplugged: return .refused(-13)
            // Biometry is locked, or the enrolled set differs from the item's.
            case .ready: return .refused(isLockedOut ? -8 : -1)
            }
        }
        return hasPrompter && isInteractionAllowed ? .asks : .refused(-1004)
    }

    /// The factors that a person can prove.
    var showable: Set<Factor> {
        var factors: Set<Factor> = [.applicationPassword]
        if isPasscodeSet { factors.insert(.passcode) }
        if reader == .ready && !isLockedOut {
            factors.insert(.biometryAny)
            if isSameSet { factors.insert(.biometryCurrentSet) }
        }
        return factors
    }

    /// The context's proofs that count for the item.
    var known: Set<Factor> {
        // If fingers are never enough, the secret is sealed, and a passcode without its key opens nothing.
        let isSealed = !control.isSatisfied([.biometryAny, .biometryCurrentSet])
        let finger: Set<Factor> = isSameSet ? [.biometryAny, .biometryCurrentSet] : [.biometryAny]
        switch context {
        case .none: return []
        case .finger: return finger
        case .passcodeWithoutKey: return isSealed ? [] : [.passcode]
        case .passcodeWithKey: return [.passcode]
        case .fingerAndPasscodeWithKey: return finger.union([.passcode])
        case .applicationPasswordWithKey: return [.applicationPassword]
        }
    }
}
