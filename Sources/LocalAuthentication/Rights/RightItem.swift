import Foundation
import Security

/// The keychain item of a right: a generic password whose service contains the program's name.
struct RightItem: Sendable {
    private let identifier: String

    init(_ identifier: String) {
        self.identifier = identifier
    }

    // MARK: Operations

    func constraints() async throws -> String {
        let query = self
        let (status, constraints) = await Background.value {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query.query([kSecReturnAttributes: true]), &result)
            let attributes = result as? [String: Any]
            return (status, (attributes?[kSecAttrAccessControl as String] as? SecAccessControl)?.constraints)
        }
        try RightItem.check(status)
        guard let constraints else { throw RightItem.error(errSecInvalidItemRef) }
        return constraints
    }

    func add(_ secret: Data, _ requirement: LAAuthenticationRequirement) async throws {
        let query = self
        try RightItem.check(
            await Background.value {
                let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                guard let control = SecAccessControl(protection, constraints: requirement.expression) else {
                    return errSecParam
                }
                return SecItemAdd(query.query([kSecAttrAccessControl: control, kSecValueData: secret]), nil)
            }
        )
    }

    /// Blocks.
    func secret(in context: LAContext) throws -> Data {
        var result: CFTypeRef?
        let more: [CFString: Any] = [
            kSecReturnData: true, kSecUseAuthenticationContext: context,
            kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
        ]
        try RightItem.check(SecItemCopyMatching(query(more), &result))
        return result as? Data ?? Data()
    }

    func delete(in context: LAContext) async throws {
        let query = self
        try RightItem.check(
            await Background.value { SecItemDelete(query.query([kSecUseAuthenticationContext: context])) }
        )
    }

    /// Covers all rights of this program.
    static func deleteAll() async throws {
        let status = await Background.value { SecItemDelete(query as CFDictionary) }
        if status != errSecItemNotFound { try check(status) }
    }

    // MARK: Queries

    private static var query: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
    }

    /// The service of the items, and the label of the keys.
    static var service: String { "org.keychaind.LARightStore." + ProcessInfo.processInfo.processName }

    private func query(_ more: [CFString: Any]) -> CFDictionary {
        RightItem.query.merging([kSecAttrAccount: identifier]) { $1 }.merging(more) { $1 } as CFDictionary
    }

    // MARK: Errors

    static func check(_ status: OSStatus) throws {
        switch status {
        case errSecSuccess: return
        case errSecInteractionNotAllowed: throw LAError.object(.notInteractive, "the right is not authorised")
        case errSecUserCanceled: throw LAError.object(.userCancel, "the person cancelled")
        case errSecAuthFailed: throw LAError.object(.authenticationFailed, "the keychain refused")
        default: throw error(status)
        }
    }

    private static func error(_ status: OSStatus) -> NSError {
        let message = SecCopyErrorMessageString(status, nil) as String? ?? "Unknown error."
        return NSError(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: message]
        )
    }
}
