public import Foundation
import KeychaindModel

/// The protection of an item: when it is accessible, and which authentication releases it.
public final class SecAccessControl: Hashable, Sendable {
    /// When the item is accessible.
    let accessibility: Accessibility

    /// The required authentication; nil for none.
    let accessControl: AccessControl?

    init(_ accessibility: Accessibility, _ accessControl: AccessControl?) {
        self.accessibility = accessibility
        self.accessControl = accessControl
    }

    /// Creates an access control from a constant `kSecAttrAccessible…` and an expression; nil if either is invalid.
    package convenience init?(_ protection: CFString, constraints: String) {
        guard let accessibility = Accessibility(code: protection as String),
            let accessControl = try? AccessControl(parsing: constraints)
        else { return nil }
        self.init(accessibility, accessControl)
    }

    /// The access control expression; nil for none.
    package var constraints: String? { accessControl?.description }

    /// Whether a person must prove something.
    package var needsAuthentication: Bool { accessControl?.policy != nil }

    /// Compares accessibility and expression.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool {
        left.accessibility == right.accessibility && left.accessControl == right.accessControl
    }

    /// Hashes accessibility and expression.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessibility)
        hasher.combine(accessControl)
    }
}

/// Creates an access control.
///
/// - Parameters:
///   - allocator: not used.
///   - protection: one of the constants `kSecAttrAccessible…`.
///   - flags: the constraints; all must be met unless ``SecAccessControlCreateFlags/or`` is included. An application
///     password always is, and biometry is one constraint at most.
///   - error: receives an error with ``errSecParam``, or ``errSecUnimplemented`` for an unsupported flag.
/// - Returns: nil on error.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    reporting(to: error) { () throws(StatusError) in try SecAccessControl(protection, flags) }
}

extension SecAccessControl: CustomStringConvertible {
    /// Accessibility and expression.
    public var description: String {
        [accessibility.rawValue, accessControl?.description].compactMap { $0 }.joined(separator: ", ")
    }
}

/// The constraints of an access control.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits, as on Apple's systems.
    public let rawValue: CFOptionFlags

    /// Creates flags from bits.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// Biometry or the passcode; without other constraints than an application password.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)

    /// Any enrolled finger, including fingers enrolled later.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)

    /// One of the fingers that are enrolled now.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)

    /// The passcode.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)

    /// A paired device nearby; not supported.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)

    /// The older name of ``companion``.
    @available(*, deprecated, renamed: "companion")
    public static let watch = companion

    /// One constraint must be met, and the application password if there is one.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)

    /// All constraints must be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)

    /// Use of a private key, for keys only; alone it asks for no authentication.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)

    /// The application password of the item, in addition to the other constraints.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    /// The older name of ``biometryAny``.
    @available(*, deprecated, renamed: "biometryAny")
    public static let touchIDAny = biometryAny

    /// The older name of ``biometryCurrentSet``.
    @available(*, deprecated, renamed: "biometryCurrentSet")
    public static let touchIDCurrentSet = biometryCurrentSet

    /// All known flags.
    static let known: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]

    /// Those that can be together with the presence of the owner.
    fileprivate static let withUserPresence: SecAccessControlCreateFlags = [
        .userPresence, .applicationPassword, .privateKeyUsage,
    ]
}

extension SecAccessControl {
    fileprivate convenience init(_ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags) throws(StatusError) {
        guard let code = protection as? NSString, let accessibility = Accessibility(code: code as String) else {
            throw StatusError(errSecParam, "the protection is not one of the constants kSecAttrAccessible…")
        }
        self.init(accessibility, try SecAccessControl.accessControl(flags))
    }

    private static let constraints: [(flag: SecAccessControlCreateFlags, constraint: Constraint)] = [
        (.userPresence, .userPresence), (.biometryAny, .biometryAny), (.biometryCurrentSet, .biometryCurrentSet),
        (.devicePasscode, .devicePasscode),
    ]

    private static func accessControl(
        _ flags: SecAccessControlCreateFlags
    ) throws(StatusError) -> AccessControl? {
        guard flags.isSubset(of: .known), !flags.isSuperset(of: [.or, .and]) else {
            throw StatusError(errSecParam, "the flags exclude each other or are unknown")
        }
        guard !flags.contains(.companion) else {
            throw StatusError(errSecUnimplemented, "companion is not supported")
        }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
            throw StatusError(errSecParam, "the flags have two constraints of biometry")
        }
        guard !flags.contains(.userPresence) || flags.isSubset(of: .withUserPresence) else {
            throw StatusError(
                errSecParam,
                "userPresence can be combined with applicationPassword and privateKeyUsage only"
            )
        }
        let words = constraints.filter { flags.contains($0.flag) }.map(\.constraint.rawValue)
        let hasPassword = flags.contains(.applicationPassword)
        guard !words.isEmpty || hasPassword || flags.isDisjoint(with: [.and, .or]) else {
            throw StatusError(errSecParam, "and/or need a constraint")
        }
        // As on Apple's systems, all constraints must be met by default, and an application password is no alternative.
        let proofs = words.joined(separator: flags.contains(.or) ? " or " : " and ")
        let parts = [
            flags.contains(.privateKeyUsage) ? "privateKeyUsage" : "", words.isEmpty ? "" : "(\(proofs))",
            hasPassword ? Constraint.applicationPassword.rawValue : "",
        ]
        let expression = parts.filter { !$0.isEmpty }.joined(separator: " and ")
        guard !expression.isEmpty else { return nil }
        do throws(AccessControlError) {
            return try AccessControl(parsing: expression)
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
    }
}

/// Accessibility by Apple's codes, the values of the constants `kSecAttrAccessible…`.
extension Accessibility {
    /// The accessibility with a code; nil for an unknown code.
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
