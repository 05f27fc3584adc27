import KeychaindAuthentication
import KeychaindModel

/// One cell of the table: requirement, state and proofs.
struct Scenario: Sendable {
    /// An access control, and its meaning in plain Swift.
    struct Control: Sendable {
        let text: String?
        let isSatisfied: @Sendable (_ proofs: Set<Factor>) -> Bool

        /// All shapes of policy: each factor, each pair, and nested ones.
        static let all = [
            Control(text: nil) { _ in true },
            Control(text: "userPresence") { $0.hasFinger || $0.contains(.passcode) },
            Control(text: "biometryAny") { $0.hasFinger },
            Control(text: "biometryCurrentSet") { $0.contains(.biometryCurrentSet) },
            Control(text: "devicePasscode") { $0.contains(.passcode) },
            Control(text: "applicationPassword") { $0.contains(.applicationPassword) },
            Control(text: "biometryCurrentSet or devicePasscode") {
                $0.contains(.biometryCurrentSet) || $0.contains(.passcode)
            },
            Control(text: "biometryAny and devicePasscode") { $0.hasFinger && $0.contains(.passcode) },
            Control(text: "biometryCurrentSet and applicationPassword") {
                $0.contains(.biometryCurrentSet) && $0.contains(.applicationPassword)
            },
            Control(text: "userPresence and applicationPassword") {
                ($0.hasFinger || $0.contains(.passcode)) && $0.contains(.applicationPassword)
            },
            Control(text: "userPresence or applicationPassword") {
                $0.hasFinger || $0.contains(.passcode) || $0.contains(.applicationPassword)
            },
            Control(text: "devicePasscode and applicationPassword") {
                $0.contains(.passcode) && $0.contains(.applicationPassword)
            },
            Control(text: "devicePasscode or biometryAny and applicationPassword") {
                $0.contains(.passcode) || ($0.hasFinger && $0.contains(.applicationPassword))
            },
            Control(text: "biometryCurrentSet or biometryAny and devicePasscode") {
                $0.contains(.biometryCurrentSet) || ($0.hasFinger && $0.contains(.passcode))
            },
        ]
    }

    enum Reader: CaseIterable {
        case ready, unavailable, nothingEnrolled, unplugged
    }

    /// The earlier proofs of the caller's context.
    enum Context: CaseIterable {
        case none, finger, passcodeWithoutKey, passcodeWithKey, fingerAndPasscodeWithKey, applicationPasswordWithKey
    }

    var control = Control.all[0]
    var reader = Reader.ready
    var isLockedOut = false
    var isSameSet = true
    var isPasscodeSet = true
    var hasPrompter = true
    var isSessionLocked = false
    var isInteractionAllowed = true
    var context = Context.none

    static func forEach(of control: Control, _ body: (Scenario) -> Void) {
        var scenario = Scenario(control: control)
        for reader in Reader.allCases {
            for context in Context.allCases {
                for bits in 0..<64 {
                    scenario.reader = reader
                    scenario.context = context
                    scenario.isLockedOut = bits & 1 != 0
                    scenario.isSameSet = bits & 2 != 0
                    scenario.isPasscodeSet = bits & 4 != 0
                    scenario.hasPrompter = bits & 8 != 0
                    scenario.isSessionLocked = bits & 16 != 0
                    scenario.isInteractionAllowed = bits & 32 != 0
                    body(scenario)
                }
            }
        }
    }
}

extension Set<Factor> {
    /// Whether a finger of any enrolled set is among the proofs.
    var hasFinger: Bool { contains(.biometryAny) || contains(.biometryCurrentSet) }
}
