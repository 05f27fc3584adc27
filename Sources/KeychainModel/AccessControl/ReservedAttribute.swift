/// The attributes of an item that mean something to the keychain itself.
///
/// Names with the prefix ``Attributes/reservedPrefix`` that are not here are kept, and mean nothing yet.
package enum ReservedAttribute: String, CaseIterable, Hashable, Sendable {
    /// Who may have the item: ``AccessControl``.
    case accessControl = "keychain:access-control"

    /// When it can be used: ``Accessibility``.
    case accessible = "keychain:accessible"

    /// Whether it is marked to be synchronised with other devices: `true` or `false`, as libsecret writes booleans.
    case synchronizable = "keychain:synchronizable"

    /// The group of programs that it belongs to.
    case accessGroup = "keychain:access-group"
}

extension Attributes {
    /// The value of a reserved attribute; nil when there is no such attribute.
    package subscript(reserved: ReservedAttribute) -> String? {
        self[reserved.rawValue]
    }
}
