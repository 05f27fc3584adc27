import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

extension SecretClient {
    /// Tells the person if a rule may hide items from keychainctl.
    func tellOfHidingRules() async {
        // Other providers have no rules, and without `login` none is in force.
        guard let rules = try? await rules(), rules.contains(where: \.mayHideFromKeychainctl) else { return }
        Terminal.tell("a rule may hide items from keychainctl; “keychainctl rules” lists the rules")
    }
}

extension ListedRule {
    /// Programs in a sandbox and units are others.
    fileprivate var mayHideFromKeychainctl: Bool {
        let words = text.split(separator: " ")
        guard words.count > 1, words[0] == "hide" else { return false }
        return words[1] == "any" || words[1].hasPrefix("program:") && text.contains("keychainctl")
    }
}
