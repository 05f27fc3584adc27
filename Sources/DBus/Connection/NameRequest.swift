import CDBus

/// The asking for a well-known name, and what came of it.
package enum NameRequest {
    package struct Options: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Another program may take the name over.
        package static let allowReplacement = Options(rawValue: UInt32(DBUS_NAME_FLAG_ALLOW_REPLACEMENT))
        /// Takes the name over from an owner that allows it.
        package static let replaceExisting = Options(rawValue: UInt32(DBUS_NAME_FLAG_REPLACE_EXISTING))
        static let doNotQueue = Options(rawValue: UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))
    }

    package enum Outcome: Hashable, Sendable {
        case owner
        case ownedByAnother

        init(code: Int32) {
            self =
                code == DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER || code == DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER
                ? .owner : .ownedByAnother
        }
    }
}
