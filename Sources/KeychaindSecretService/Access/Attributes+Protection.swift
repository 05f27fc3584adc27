import KeychaindModel

extension Attributes {
    /// Returns the attributes, with the protection of others where these state none.
    ///
    /// A program that replaces an item need not repeat its access control. The binding to enrolled fingers goes with
    /// it.
    func keepingProtection(of others: Attributes) -> Attributes {
        let accessControl = ReservedAttribute.accessControl.rawValue
        var names = [ReservedAttribute.accessible.rawValue]
        if self[accessControl] == nil { names += [accessControl, BiometryBinding.attribute] }
        var kept = self
        for name in names where self[name] == nil {
            if let value = others[name] { kept = kept.setting(name, to: value) }
        }
        return kept
    }
}
