import Foundation
import KeychainModel

/// What a program asks an access control to be, brought into the keychain's own words.
struct AccessControlRequest {
    let result: Result<SecAccessControl, StatusError>

    init(_ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags) {
        result = Result { () throws(StatusError) in
            guard let code = protection as? NSString, let accessibility = Accessibility(code: code as String) else {
                throw StatusError(errSecParam, "the protection is none of the constants kSecAttrAccessible…")
            }
            return SecAccessControl(accessibility, try AccessControlRequest.accessControl(flags))
        }
    }

    private static let constraints: [(flag: SecAccessControlCreateFlags, constraint: Constraint)] = [
        (.userPresence, .userPresence), (.biometryAny, .biometryAny), (.biometryCurrentSet, .biometryCurrentSet),
        (.devicePasscode, .devicePasscode), (.applicationPassword, .applicationPassword),
    ]

    private static func accessControl(
        _ flags: SecAccessControlCreateFlags
    ) throws(StatusError) -> AccessControl? {
        guard flags.isSubset(of: .known), !flags.isSuperset(of: [.or, .and]) else {
            throw StatusError(errSecParam, "the flags are not ones that go together")
        }
        guard flags.isDisjoint(with: [.companion, .privateKeyUsage]) else {
            throw StatusError(errSecUnimplemented, "companions and the use of private keys are not supported")
        }
        let words = constraints.filter { flags.contains($0.flag) }.map(\.constraint.rawValue)
        guard !words.isEmpty else {
            guard flags.isEmpty else { throw StatusError(errSecParam, "there is nothing to join") }
            return nil
        }
        // Apple's default for several constraints: all of them.
        do throws(AccessControlError) {
            return try AccessControl(parsing: words.joined(separator: flags.contains(.or) ? " or " : " and "))
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
    }
}
