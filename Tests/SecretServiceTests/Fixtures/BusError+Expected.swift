import DBus

/// The errors by the names that clients know, spelled out rather than taken from the service.
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
