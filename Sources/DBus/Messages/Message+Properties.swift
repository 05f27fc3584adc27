import CDBus

extension Message {
    /// Whether the arguments have just these types.
    func hasSignature(_ signature: String) -> Bool {
        dbus_message_has_signature(pointer, signature) != 0
    }

    /// Whether descriptors came with it.
    var hasDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }

    /// The signal that tells of changed properties.
    ///
    /// - Parameter entries: writes the entries of an `a{sv}`.
    package static func propertiesChanged(
        _ path: ObjectPath,
        _ interface: String,
        _ entries: (inout Writer) -> Void
    ) -> Message {
        let message = Message.signal(path, StandardInterface.properties, "PropertiesChanged")
        message.write { writer in
            interface.write(to: &writer)
            writer.writeArray(of: "{sv}", entries)
            [String]().write(to: &writer)
        }
        return message
    }
}
