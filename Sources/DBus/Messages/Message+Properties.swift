import CDBus

extension Message {
    /// Whether the arguments have just these types.
    func hasSignature(_ signature: String) -> Bool {
        dbus_message_has_signature(pointer, signature) != 0
    }

    /// Whether descriptors came with it.
    var hasDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }
}
