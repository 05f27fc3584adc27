/// What an item's reserved attributes say about who may have it, and when.
package struct Protection: Hashable, Sendable {
    /// The longest access group, in bytes.
    package static let maximumGroupLength = 255

    /// What has to be proved before it is released; nil if nothing.
    package let accessControl: AccessControl?

    /// When it can be used; nil if nothing is said, as for items of programs that know nothing of it.
    package let accessibility: Accessibility?

    /// Whether it is marked to be synchronised with other devices.
    package let isSynchronizable: Bool

    /// The group of programs that it belongs to.
    package let accessGroup: String?

    /// Puts protection together, and throws ``AccessControlError/Code/contradiction`` if its parts exclude each other.
    package init(
        accessControl: AccessControl?,
        accessibility: Accessibility? = nil,
        isSynchronizable: Bool = false,
        accessGroup: String? = nil
    ) throws(AccessControlError) {
        self.accessControl = accessControl
        self.accessibility = accessibility
        self.isSynchronizable = isSynchronizable
        self.accessGroup = accessGroup
        try checkApplicationPassword()
        if isSynchronizable {
            try checkLeavesDevice()
        }
    }

    /// Reads an item's attributes; nil if none of them says anything about it.
    ///
    /// Throws if one of them has a value that it cannot have, or they exclude each other.
    package init?(of attributes: Attributes) throws(AccessControlError) {
        guard attributes.hasReserved else { return nil }
        let accessControl = attributes[.accessControl]
        let accessible = attributes[.accessible]
        let synchronizable = attributes[.synchronizable]
        let accessGroup = attributes[.accessGroup]
        guard accessControl != nil || accessible != nil || synchronizable != nil || accessGroup != nil else {
            return nil
        }
        try self.init(
            accessControl: Self.accessControl(accessControl),
            accessibility: Self.accessibility(accessible),
            isSynchronizable: Self.boolean(synchronizable),
            accessGroup: Self.group(accessGroup)
        )
    }

    /// What has to be proved before the item is read, changed or deleted; nil if nothing.
    ///
    /// A change needs what reading needs whatever it is for: else the item could be exchanged for one that a program chooses, or its
    /// access control taken off and the item read then. So no change is told apart from another.
    package var policy: Policy? { accessControl?.policy }

    /// A password of the item's own is right when it opens a key, and there is none where something without a key will do.
    private func checkApplicationPassword() throws(AccessControlError) {
        guard let policy, policy.factors.contains(.applicationPassword), policy.keyAlternatives == nil else { return }
        throw AccessControlError(
            .contradiction,
            reason:
                "applicationPassword cannot stand beside an alternative that asks for neither that nor devicePasscode"
        )
    }

    private func checkLeavesDevice() throws(AccessControlError) {
        if let accessibility, accessibility.isThisDeviceOnly {
            throw AccessControlError(
                .contradiction,
                reason: "an item that is \(accessibility.rawValue) cannot be synchronised with other devices"
            )
        }
        if let policy, policy.factors.contains(.biometryCurrentSet) {
            throw AccessControlError(
                .contradiction,
                reason:
                    "the fingers that biometryCurrentSet means are enrolled on this device only, so the item cannot be synchronised"
            )
        }
    }

    private static func accessControl(_ text: String?) throws(AccessControlError) -> AccessControl? {
        guard let text else { return nil }
        return try AccessControl(parsing: text)
    }

    private static func accessibility(_ text: String?) throws(AccessControlError) -> Accessibility? {
        guard let text else { return nil }
        guard let accessibility = Accessibility(rawValue: text) else {
            throw invalid(.accessible, allowed: Accessibility.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return accessibility
    }

    private static func boolean(_ text: String?) throws(AccessControlError) -> Bool {
        switch text {
        case "true": true
        case "false", nil: false
        default: throw invalid(.synchronizable, allowed: "true, false")
        }
    }

    private static func group(_ text: String?) throws(AccessControlError) -> String? {
        guard let text else { return nil }
        guard !text.isEmpty, text.utf8.count <= maximumGroupLength else {
            throw invalid(.accessGroup, allowed: "names of 1 to \(maximumGroupLength) bytes")
        }
        return text
    }

    private static func invalid(_ name: ReservedAttribute, allowed: String) -> AccessControlError {
        AccessControlError(.invalidValue, reason: "the values of \(name.rawValue) are: \(allowed)")
    }
}
