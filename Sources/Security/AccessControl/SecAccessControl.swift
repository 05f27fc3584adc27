public import Foundation
import KeychainModel

/// When an item can be used, and what has to be proved before it is released.
public final class SecAccessControl: Hashable, Sendable {
    /// When the item can be used at all.
    let accessibility: Accessibility

    /// What has to be proved; nil if nothing.
    let accessControl: AccessControl?

    init(_ accessibility: Accessibility, _ accessControl: AccessControl?) {
        self.accessibility = accessibility
        self.accessControl = accessControl
    }

    /// Takes one of the constants `kSecAttrAccessible…`, and what has to be proved as the keychain writes it; nil if it is neither.
    package convenience init?(_ protection: CFString, constraints: String) {
        guard let accessibility = Accessibility(code: protection as String),
            let accessControl = try? AccessControl(parsing: constraints)
        else { return nil }
        self.init(accessibility, accessControl)
    }

    /// What has to be proved, as the keychain writes it; nil if nothing.
    package var constraints: String? { accessControl?.description }

    /// Compares when and what.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool {
        left.accessibility == right.accessibility && left.accessControl == right.accessControl
    }

    /// Feeds when and what.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessibility)
        hasher.combine(accessControl)
    }
}

/// Makes an access control.
///
/// - Parameters:
///   - allocator: not used.
///   - protection: one of the constants `kSecAttrAccessible…`.
///   - flags: what has to be proved; several constraints have all to be met, unless ``SecAccessControlCreateFlags/or``
///     is among them.
///   - error: takes an error with ``errSecParam``, or ``errSecUnimplemented`` for what does not exist here.
/// - Returns: nil if there is an error.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    switch AccessControlRequest(protection, flags).result {
    case .success(let accessControl):
        return accessControl
    case .failure(let failure):
        error?.pointee = .passRetained(failure.error)
        return nil
    }
}

extension SecAccessControl: CustomStringConvertible {
    /// Both parts, as the keychain writes them.
    public var description: String {
        [accessibility.rawValue, accessControl?.description].compactMap { $0 }.joined(separator: ", ")
    }
}
