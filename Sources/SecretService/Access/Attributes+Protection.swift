import KeychainModel

extension Attributes {
    /// These, protected as others are where these say nothing about it.
    ///
    /// A program that replaces an item it once stored with an access control need not repeat that. Enrolled fingers belong to the
    /// access control that asks for them: with another one they do not stay.
    func keepingProtection(of others: Attributes) -> Attributes {
        let accessControl = ReservedAttribute.accessControl.rawValue
        var names = [ReservedAttribute.accessible.rawValue]
        if self[accessControl] == nil { names += [accessControl, BiometryBinding.attribute] }
        let kept = names.compactMap { name in
            others[name].flatMap { value in self[name] == nil ? (name, value) : nil }
        }
        return kept.isEmpty ? self : with(kept)
    }

    /// These, but for one name.
    func without(_ name: String) -> Attributes {
        guard self[name] != nil else { return self }
        var pairs: [(String, String)] = []
        forEach { key, value in
            let key = String(cString: key)
            if key != name { pairs.append((key, String(cString: value))) }
        }
        return Attributes(pairs)
    }

    /// These, and others, which take the place of those of the same name.
    func with(_ others: [(String, String)]) -> Attributes {
        var pairs: [(String, String)] = []
        forEach { name, value in pairs.append((String(cString: name), String(cString: value))) }
        return Attributes(pairs + others)
    }
}
