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
        let kept = names.compactMap { name in
            others[name].flatMap { value in self[name] == nil ? (name, value) : nil }
        }
        return kept.isEmpty ? self : with(kept)
    }

    func without(_ name: String) -> Attributes {
        guard self[name] != nil else { return self }
        var pairs: [(String, String)] = []
        forEach { key, value in
            let key = String(cString: key)
            if key != name { pairs.append((key, String(cString: value))) }
        }
        return Attributes(pairs)
    }

    /// Returns the attributes with others added; equal names are replaced.
    func with(_ others: [(String, String)]) -> Attributes {
        var pairs: [(String, String)] = []
        forEach { name, value in pairs.append((String(cString: name), String(cString: value))) }
        return Attributes(pairs + others)
    }
}
