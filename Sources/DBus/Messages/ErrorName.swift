/// The name of a D-Bus error, such as `org.freedesktop.DBus.Error.Failed`.
package struct ErrorName: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    private init(standard name: String) {
        rawValue = "org.freedesktop.DBus.Error." + name
    }

    package static let accessDenied = ErrorName(standard: "AccessDenied")
    package static let disconnected = ErrorName(standard: "Disconnected")
    package static let failed = ErrorName(standard: "Failed")
    package static let inputOutput = ErrorName(standard: "IOError")
    package static let invalidArguments = ErrorName(standard: "InvalidArgs")
    package static let limitsExceeded = ErrorName(standard: "LimitsExceeded")
    package static let nameHasNoOwner = ErrorName(standard: "NameHasNoOwner")
    package static let noReply = ErrorName(standard: "NoReply")
    package static let noServer = ErrorName(standard: "NoServer")
    package static let notSupported = ErrorName(standard: "NotSupported")
    package static let propertyReadOnly = ErrorName(standard: "PropertyReadOnly")
    package static let serviceUnknown = ErrorName(standard: "ServiceUnknown")
    package static let timeout = ErrorName(standard: "Timeout")
    package static let unknownInterface = ErrorName(standard: "UnknownInterface")
    package static let unknownMethod = ErrorName(standard: "UnknownMethod")
    package static let unknownObject = ErrorName(standard: "UnknownObject")
    package static let unknownProperty = ErrorName(standard: "UnknownProperty")
}
