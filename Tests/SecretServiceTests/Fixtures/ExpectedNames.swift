import DBus

/// Paths as clients spell them.
extension ObjectPath {
    static let service = ObjectPath(unchecked: "/org/freedesktop/secrets")
    static let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
    static let sessionCollection = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")
    static let defaultAlias = ObjectPath(unchecked: "/org/freedesktop/secrets/aliases/default")

    /// The last element.
    var name: String { String(rawValue.split(separator: "/").last ?? "") }

    /// The path without its last element.
    var parent: ObjectPath {
        ObjectPath(unchecked: "/" + rawValue.split(separator: "/").dropLast().joined(separator: "/"))
    }

    /// The path with one more element.
    func appending(_ element: String) -> ObjectPath {
        ObjectPath(unchecked: "\(rawValue)/\(element)")
    }
}
