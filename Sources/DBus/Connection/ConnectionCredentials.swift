/// What a bus tells of the process behind a connection, as it was when the process connected.
///
/// The names of the entries are those of the D-Bus specification; a bus leaves out what it does not know.
package struct ConnectionCredentials: Sendable {
    /// `ProcessID`; 0 is a process that this one cannot see.
    package var processID: UInt32?

    /// `ProcessFD`, a descriptor that stays with the process and is never another's: dbus-daemon from 1.15.8, dbus-broker from 36.
    package var processDescriptor: FileDescriptor?

    /// `UnixUserID`, the effective user.
    package var userID: UInt32?

    /// `LinuxSecurityLabel`, such as AppArmor's, which the kernel keeps.
    package var securityLabel: String?

    /// What a bus tells that knows nothing.
    package init() {}

    /// Reads an `a{sv}`; throws `InvalidArgs` if an entry has another type than the specification says.
    package init(from reader: inout Reader) throws(BusError) {
        self.init()
        try reader.readDictionary { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case "ProcessID": processID = try reader.readVariant(of: UInt32.self)
            case "ProcessFD": processDescriptor = try reader.readVariant(of: FileDescriptor.self)
            case "UnixUserID": userID = try reader.readVariant(of: UInt32.self)
            case "LinuxSecurityLabel": securityLabel = try ConnectionCredentials.readLabel(&reader)
            default: reader.skip()
            }
        }
    }

    /// Reads the `ay`, which ends with a NUL.
    private static func readLabel(_ reader: inout Reader) throws(BusError) -> String {
        try reader.readVariant { (reader) throws(BusError) in
            try reader.withBytes { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
        }
    }
}
