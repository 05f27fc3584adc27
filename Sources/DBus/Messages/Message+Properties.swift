import CDBus

extension Message {
    /// Whether the arguments have just these types.
    func hasSignature(_ signature: String) -> Bool {
        dbus_message_has_signature(pointer, signature) != 0
    }

    /// How many bytes its arguments take, but for numbers and padding: what a call keeps in memory that waits.
    var argumentSize: Int {
        var reader = makeReader()
        return reader.size()
    }

    /// Whether descriptors came with it.
    var hasDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }
}
