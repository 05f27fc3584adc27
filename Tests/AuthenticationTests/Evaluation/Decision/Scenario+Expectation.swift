import Authentication
import KeychainModel

extension Scenario {
    /// What should come of it, told from the outside: by what people can show, one after the other, and not by normal
    /// forms.
    enum Expectation: Hashable {
        case released
        case asksSystem
        /// A dialog in which a person can succeed, and only by proofs that complete what is known already.
        case asks
        case refused(Int32)
    }

    /// The expectation, sentence by sentence.
    var expectation: Expectation {
        // Behind a locked screen nobody is asked, and what was proved holds no longer. – notInteractive
        if isSessionLocked && control.text != nil { return .refused(-1004) }

        // Nothing asked, or a context that has proved enough: no further prompt.
        if control.text == nil || control.isSatisfied(known) { return .released }

        // The system's dialog stands for presence, so it is used where presence completes the proofs, in whichever way
        // it was shown.
        let presenceSuffices =
            control.isSatisfied(known.union([.biometryAny])) && control.isSatisfied(known.union([.passcode]))
        if presenceSuffices && hasSystemDialog && !isLockedOut {
            return isInteractionAllowed ? .asksSystem : .refused(-1004)
        }

        // Even a person who shows all that can be shown would not succeed: the error tells why.
        if !control.isSatisfied(known.union(showable)) {
            if control.isSatisfied(known.union(showable).union([.passcode])) { return .refused(-5) }
            switch reader {
            case .unavailable: return .refused(-6)
            case .nothingEnrolled: return .refused(-7)
            case .unplugged: return .refused(-13)
            // Too many failures, or another set of fingers than the item's: then it has failed.
            case .ready: return .refused(isLockedOut ? -8 : -1)
            }
        }
        return hasPrompter && isInteractionAllowed ? .asks : .refused(-1004)
    }

    /// What a person can show now.
    var showable: Set<Factor> {
        var factors: Set<Factor> = [.applicationPassword]
        if isPasscodeSet { factors.insert(.passcode) }
        if reader == .ready && !isLockedOut {
            factors.insert(.biometryAny)
            if isSameSet { factors.insert(.biometryCurrentSet) }
        }
        return factors
    }

    /// What the context's proofs are worth for the item.
    var known: Set<Factor> {
        // Where fingers alone are never enough, the secret is under a key, and a passcode without its key opens
        // nothing.
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
