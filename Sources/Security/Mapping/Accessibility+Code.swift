import KeychainModel

/// When an item can be used, by Apple's codes, which are the values of the constants `kSecAttrAccessible…`.
extension Accessibility {
    /// Takes Apple's code; nil if it is none.
    init?(code: String) {
        guard let found = Accessibility.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }

    /// Apple's code.
    var code: String {
        switch self {
        case .whenUnlocked: "ak"
        case .afterFirstUnlock: "ck"
        case .always: "dk"
        case .whenPasscodeSetThisDeviceOnly: "akpu"
        case .whenUnlockedThisDeviceOnly: "aku"
        case .afterFirstUnlockThisDeviceOnly: "cku"
        case .alwaysThisDeviceOnly: "dku"
        }
    }
}
