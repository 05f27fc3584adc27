import Authentication
import KeychainModel

/// What a person's answer opens beside what the dialog names: a context keeps what was proved, and it serves for every item that
/// asks for that.
struct ProofScope {
    /// What can be proved that serves for other items, too.
    let factors: FactorSet

    /// For how long.
    let reuse: Duration

    /// The scope of what a policy asks for; a password of an item's own proves something for that only.
    ///
    /// - Parameter hasOwnPasscode: whether the password of another keychain than `login` stands for the passcode.
    init(of policy: Policy, for reuse: Duration, hasOwnPasscode: Bool = false) {
        factors = policy.factors.subtracting(hasOwnPasscode ? [.passcode, .applicationPassword] : .applicationPassword)
        self.reuse = reuse
    }

    /// The scope in a dialog's words, to stand after "use".
    var text: String {
        let time = GrantReuse(reuse).isSingle ? "once" : "for \(reuse.words)"
        let hasFinger = !factors.isDisjoint(with: .biometry)
        let means =
            switch (hasFinger, factors.contains(.passcode)) {
            case (true, true): "your fingerprint or password protects"
            case (true, false): "your fingerprint protects"
            case (false, _): "your password protects"
            }
        return "every item that \(means), \(time)"
    }
}
