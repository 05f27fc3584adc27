/// The protection of an item, from its reserved attributes.
package struct Protection: Hashable, Sendable {
    /// In bytes.
    package static let maximumGroupLength = 255

    /// The proofs required to release the item; nil for none.
    package let accessControl: AccessControl?

    /// When the item is accessible; nil if unspecified, as in items of programs without Apple's API.
    package let accessibility: Accessibility?

    package let isSynchronizable: Bool

    package let accessGroup: String?

    /// Throws ``AccessControlError/Code/contradiction`` if the parts exclude each other.
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

    /// Nil if the item has no reserved attributes; throws if a value is invalid or values exclude each other.
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

    /// The proofs required to read, change or delete the item; nil for none.
    ///
    /// Changes require the same as reading. Otherwise a program could replace the item, or remove its access control
    /// and then read it.
    package var policy: Policy? { accessControl?.policy }

    /// Refuses an application password where another alternative has no key: only opening a key can verify it.
    private func checkApplicationPassword() throws(AccessControlError) {
        guard let policy, policy.factors.contains(.applicationPassword), policy.keyAlternatives == nil else { return }
        throw AccessControlError(
            .contradiction,
            reason:
                "every alternative to applicationPassword must require applicationPassword or devicePasscode"
        )
    }

    private func checkLeavesDevice() throws(AccessControlError) {
        if let accessibility, accessibility.isThisDeviceOnly {
            throw AccessControlError(
                .contradiction,
                reason: "an item that is \(accessibility.rawValue) cannot be synchronised"
            )
        }
        if let policy, policy.factors.contains(.biometryCurrentSet) {
            throw AccessControlError(
                .contradiction,
                reason:
                    "biometryCurrentSet applies to this device only, so the item cannot be synchronised"
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
            throw invalid(.accessGroup, allowed: "any name of 1 to \(maximumGroupLength) bytes")
        }
        return text
    }

    private static func invalid(_ name: ReservedAttribute, allowed: String) -> AccessControlError {
        AccessControlError(.invalidValue, reason: "\(name.rawValue) must be one of: \(allowed)")
    }
}

/// When an item is accessible, to any program: Apple's seven levels.
package enum Accessibility: String, CaseIterable, Hashable, Sendable {
    /// While the session is unlocked.
    case whenUnlocked

    /// After the first unlock, even while the session is locked.
    case afterFirstUnlock

    /// Same as ``afterFirstUnlock``, since nothing opens without the password of the collection; deprecated by Apple.
    case always

    /// While the session is unlocked and a passcode is set; never leaves this device.
    case whenPasscodeSetThisDeviceOnly

    /// As ``whenUnlocked``; never leaves this device.
    case whenUnlockedThisDeviceOnly

    /// As ``afterFirstUnlock``; never leaves this device.
    case afterFirstUnlockThisDeviceOnly

    /// As ``always``; never leaves this device.
    case alwaysThisDeviceOnly

    /// Whether exports, backups and synchronisation exclude the item.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenPasscodeSetThisDeviceOnly, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
            .alwaysThisDeviceOnly:
            true
        case .whenUnlocked, .afterFirstUnlock, .always:
            false
        }
    }

    package var needsUnlockedSession: Bool {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: true
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: false
        }
    }

    package var needsPasscode: Bool {
        self == .whenPasscodeSetThisDeviceOnly
    }
}

/// An attribute with a meaning to the keychain; others with ``Attributes/reservedPrefix`` are stored without one.
package enum ReservedAttribute: String, CaseIterable, Hashable, Sendable {
    /// The required proofs: ``AccessControl``.
    case accessControl = "keychain:access-control"

    case accessible = "keychain:accessible"

    /// Whether the item is marked for synchronisation: `true` or `false`, as in libsecret.
    case synchronizable = "keychain:synchronizable"

    case accessGroup = "keychain:access-group"
}

extension Attributes {
    package subscript(reserved: ReservedAttribute) -> String? {
        self[reserved.rawValue]
    }
}
