import CDBus

/// An error on the bus: one that came as an answer, or that is to be one.
///
/// Two errors are equal if their names are.
package struct BusError: Error, Sendable {
    /// What programs act on.
    package let name: ErrorName

    /// What people read; never holds a secret.
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    /// Bytes of a message that travel.
    private static let sentBytes = 512

    /// The message as it travels: cut, for it may repeat what the caller has sent, and an answer longer than the longest call would end
    /// the connection.
    var sentMessage: Substring {
        guard message.utf8.count > BusError.sentBytes else { return message[...] }
        // An index inside a character is taken for where that begins.
        return message[..<message.utf8.index(message.startIndex, offsetBy: BusError.sentBytes)]
    }

    /// Takes over what libdbus says of a failed call, and frees it.
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
