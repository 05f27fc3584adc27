import KeychaindDBus

/// Paths as clients write them.
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

/// The errors under their D-Bus names, independent of the service's code.
extension BusError {
    static let isLocked = secret("IsLocked")
    static let noSession = secret("NoSession")
    static let noSuchObject = secret("NoSuchObject")
    static let alreadyExists = secret("AlreadyExists")
    static let notSupported = standard("NotSupported")
    static let invalidArgs = standard("InvalidArgs")
    static let unknownObject = standard("UnknownObject")
    static let unknownMethod = standard("UnknownMethod")
    static let unknownInterface = standard("UnknownInterface")
    static let unknownProperty = standard("UnknownProperty")
    static let propertyReadOnly = standard("PropertyReadOnly")
    static let limitsExceeded = standard("LimitsExceeded")

    private static func secret(_ name: String) -> BusError {
        BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.\(name)"), "")
    }

    private static func standard(_ name: String) -> BusError {
        BusError(ErrorName(rawValue: "org.freedesktop.DBus.Error.\(name)"), "")
    }
}
