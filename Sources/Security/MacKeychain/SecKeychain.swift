import Foundation
import Synchronization

/// A keychain of macOS; here there is one, with all items.
public final class SecKeychain: Hashable, Sendable {
    static let shared = SecKeychain()

    /// Whether functions of this folder may ask the person.
    static let allowsInteraction = Mutex(true)

    /// The keys by which a query of these functions asks nobody, if that is forbidden.
    static var interaction: [CFString: Any] {
        allowsInteraction.withLock { $0 } ? [:] : [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
    }

    private init() {}

    /// Compares the objects: there is only one.
    public static func == (left: SecKeychain, right: SecKeychain) -> Bool {
        left === right
    }

    /// Hashes the object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// A reference to a keychain.
public typealias SecKeychainRef = SecKeychain

/// The type of ``SecKeychain``.
public func SecKeychainGetTypeID() -> CFTypeID { CFGetTypeID(SecKeychain.shared) }

/// Copies the default keychain, which is the only one.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainCopyDefault(_ keychain: UnsafeMutablePointer<SecKeychain?>) -> OSStatus {
    keychain.pointee = .shared
    return errSecSuccess
}

/// Allows or forbids the functions of keychains to ask the person; `SecItem` functions have
/// ``kSecUseAuthenticationUI``.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainSetUserInteractionAllowed(_ state: Bool) -> OSStatus {
    SecKeychain.allowsInteraction.withLock { $0 = state }
    return errSecSuccess
}

/// Copies whether the functions of keychains may ask the person.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainGetUserInteractionAllowed(_ state: UnsafeMutablePointer<DarwinBoolean>) -> OSStatus {
    state.pointee = DarwinBoolean(SecKeychain.allowsInteraction.withLock { $0 })
    return errSecSuccess
}

/// A Boolean in C.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Hashable, Sendable {
    private let value: UInt8

    /// Creates a Boolean.
    public init(_ value: Bool) {
        self.value = value ? 1 : 0
    }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    /// The Boolean.
    public var boolValue: Bool { value != 0 }
}

/// A reference to an item.
public typealias SecKeychainItemRef = SecKeychainItem
