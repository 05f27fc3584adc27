/// When an item can be used at all, whoever asks: Apple's seven levels.
package enum Accessibility: String, CaseIterable, Hashable, Sendable {
    /// While the session is not locked.
    case whenUnlocked

    /// From the first unlock on, session locked or not.
    case afterFirstUnlock

    /// The same here, since without the collection's password nothing can be opened; Apple has deprecated it.
    case always

    /// While the session is not locked, and as long as there is a passcode; never leaves this device.
    case whenPasscodeSetThisDeviceOnly

    /// As ``whenUnlocked``; never leaves this device.
    case whenUnlockedThisDeviceOnly

    /// As ``afterFirstUnlock``; never leaves this device.
    case afterFirstUnlockThisDeviceOnly

    /// As ``always``; never leaves this device.
    case alwaysThisDeviceOnly

    /// Whether it is kept out of exports, backups and synchronisation.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenPasscodeSetThisDeviceOnly, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
            .alwaysThisDeviceOnly:
            true
        case .whenUnlocked, .afterFirstUnlock, .always:
            false
        }
    }

    /// Whether it is locked while the session is.
    package var needsUnlockedSession: Bool {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: true
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: false
        }
    }

    /// Whether it can exist only as long as there is a passcode.
    package var needsPasscode: Bool {
        self == .whenPasscodeSetThisDeviceOnly
    }
}
