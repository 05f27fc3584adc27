import CKeychaindDBus

/// A D-Bus error, received or to be sent; errors with the same name are equal.
package struct BusError: Error, Sendable {
    package let name: ErrorName

    /// The message, for people; never contains a secret.
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    private static let sentBytes = 512

    /// The message, cut to a bounded size: it may quote arguments, and an oversized reply would end the connection.
    var sentMessage: Substring {
        guard message.utf8.count > BusError.sentBytes else { return message[...] }
        // The subscript rounds an index inside of a character down.
        return message[..<message.utf8.index(message.startIndex, offsetBy: BusError.sentBytes)]
    }

    /// Frees the error of libdbus.
    init(consuming error: inout DBusError) {
        let name = error.name.map { String(cString: $0) }
        message = error.message.map { String(cString: $0) } ?? ""
        self.name = name.map(ErrorName.init(rawValue:)) ?? .failed
        dbus_error_free(&error)
    }
}

extension BusError: Equatable {
    package static func == (left: BusError, right: BusError) -> Bool {
        left.name == right.name
    }
}

extension BusError: CustomStringConvertible {
    package var description: String { "\(name.rawValue): \(message)" }
}

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
    package static let noMemory = ErrorName(standard: "NoMemory")
    package static let noReply = ErrorName(standard: "NoReply")
    package static let notSupported = ErrorName(standard: "NotSupported")
    package static let propertyReadOnly = ErrorName(standard: "PropertyReadOnly")
    package static let serviceUnknown = ErrorName(standard: "ServiceUnknown")
    package static let timeout = ErrorName(standard: "Timeout")
    package static let unknownInterface = ErrorName(standard: "UnknownInterface")
    package static let unknownMethod = ErrorName(standard: "UnknownMethod")
    package static let unknownObject = ErrorName(standard: "UnknownObject")
    package static let unknownProperty = ErrorName(standard: "UnknownProperty")
}
