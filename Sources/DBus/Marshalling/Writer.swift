import CDBus

/// Appends values to a message in order.
///
/// libdbus refuses only when memory has run out, where Swift itself gives up too; so does this.
package struct Writer: ~Copyable {
    private var iterator = DBusMessageIter()

    init(appendingTo message: OpaquePointer) {
        dbus_message_iter_init_append(message, &iterator)
    }

    private init(iterator: DBusMessageIter) {
        self.iterator = iterator
    }

    // MARK: Basic types

    mutating func writeBasic<Value: BitwiseCopyable>(_ type: Int32, _ value: Value) {
        check(withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) })
    }

    /// Appends a string that is NUL-terminated UTF-8.
    package mutating func writeString(_ text: UnsafePointer<CChar>) {
        writeBasic(keychaind_dbus_type_string, text)
    }

    /// Appends an object path that is NUL-terminated and valid.
    package mutating func writeObjectPath(_ text: UnsafePointer<CChar>) {
        writeBasic(keychaind_dbus_type_object_path, text)
    }

    /// Appends an `ay`.
    package mutating func writeBytes(_ bytes: UnsafeRawBufferPointer) {
        writeContainer(keychaind_dbus_type_array, "y") { writer in
            guard !bytes.isEmpty else { return }
            let start = bytes.baseAddress
            writer.check(
                withUnsafePointer(to: start) {
                    dbus_message_iter_append_fixed_array(
                        &writer.iterator,
                        keychaind_dbus_type_byte,
                        $0,
                        Int32(bytes.count)
                    )
                }
            )
        }
    }

    // MARK: Containers

    /// Appends a structure of the members that the closure writes.
    package mutating func writeStructure(_ members: (inout Writer) -> Void) {
        writeContainer(keychaind_dbus_type_struct, nil, members)
    }

    /// Appends a variant of the one value, of this signature, that the closure writes.
    package mutating func writeVariant(_ signature: String, _ value: (inout Writer) -> Void) {
        writeContainer(keychaind_dbus_type_variant, signature, value)
    }

    /// Appends an array of the elements, of this signature, that the closure writes.
    package mutating func writeArray(of signature: String, _ elements: (inout Writer) -> Void) {
        writeContainer(keychaind_dbus_type_array, signature, elements)
    }

    /// Appends an entry to a dictionary: the array that is being written.
    package mutating func writeEntry(_ keyAndValue: (inout Writer) -> Void) {
        writeContainer(keychaind_dbus_type_dict_entry, nil, keyAndValue)
    }

    /// Appends an entry to an `a{sv}`, as properties are sent.
    package mutating func writeProperty(_ name: String, _ value: some BusValue) {
        writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }

    private mutating func writeContainer(_ type: Int32, _ signature: String?, _ body: (inout Writer) -> Void) {
        var inner = Writer(iterator: DBusMessageIter())
        if let signature {
            check(dbus_message_iter_open_container(&iterator, type, signature, &inner.iterator))
        } else {
            check(dbus_message_iter_open_container(&iterator, type, nil, &inner.iterator))
        }
        body(&inner)
        check(dbus_message_iter_close_container(&iterator, &inner.iterator))
    }

    private func check(_ success: dbus_bool_t) {
        precondition(success != 0, "out of memory")
    }
}
