import CKeychaindDBus
import CKeychaindLinux

/// Appends values to a message in order, either through ``Marshaller`` or through libdbus.
///
/// libdbus fails only when it is out of memory; the writer traps then, as Swift's own allocations do.
package struct Writer: ~Copyable {
    private var marshaller: Marshaller?
    private var iterator = DBusMessageIter()

    init(appendingTo message: OpaquePointer) {
        marshaller = nil
        dbus_message_iter_init_append(message, &iterator)
    }

    package init(beginning marshaller: consuming Marshaller) {
        self.marshaller = consume marshaller
    }

    private init(iterator: DBusMessageIter) {
        marshaller = nil
        self.iterator = iterator
    }

    /// Finishes the message of a marshaller; nil if the message is too long, or not of a marshaller.
    package consuming func finish() -> OutgoingMessage? {
        switch consume marshaller {
        case .some(let marshaller): marshaller.finish()
        case .none: nil
        }
    }

    // MARK: Basic types

    mutating func writeBasic<Value: BitwiseCopyable>(_ type: Int32, _ value: Value) {
        guard marshaller?.append(type, value) == nil else { return }
        appendBasic(type, value)
    }

    /// Appends NUL-terminated UTF-8 as a string.
    package mutating func writeString(_ text: UnsafePointer<CChar>) {
        writeText(keychaind_dbus_type_string, text)
    }

    /// Appends a NUL-terminated, valid object path.
    package mutating func writeObjectPath(_ text: UnsafePointer<CChar>) {
        writeText(keychaind_dbus_type_object_path, text)
    }

    /// Appends a valid object path of known length, terminated by NUL.
    package mutating func writeObjectPath(_ text: UnsafePointer<CChar>, count: Int) {
        let bytes = UnsafeRawBufferPointer(start: text, count: count)
        guard marshaller?.append(keychaind_dbus_type_object_path, text: bytes) == nil else { return }
        appendBasic(keychaind_dbus_type_object_path, text)
    }

    private mutating func writeText(_ type: Int32, _ text: UnsafePointer<CChar>) {
        let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
        guard marshaller?.append(type, text: bytes) == nil else { return }
        appendBasic(type, text)
    }

    private mutating func appendBasic<Value: BitwiseCopyable>(_ type: Int32, _ value: Value) {
        check(withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) })
    }

    package mutating func writeBytes(_ bytes: UnsafeRawBufferPointer) {
        guard marshaller?.append(bytes: bytes) == nil else { return }
        appendContainer(keychaind_dbus_type_array, "y") { writer in
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

    package mutating func writeStructure(_ members: (inout Writer) -> Void) {
        guard marshaller?.beginStructure() != nil else {
            return appendContainer(keychaind_dbus_type_struct, nil, members)
        }
        members(&self)
        marshaller?.endStructure()
    }

    /// The closure writes one value of this signature.
    package mutating func writeVariant(_ signature: String, _ value: (inout Writer) -> Void) {
        guard marshaller?.beginVariant(signature) != nil else {
            return appendContainer(keychaind_dbus_type_variant, signature, value)
        }
        value(&self)
        marshaller?.endVariant()
    }

    /// The closure writes elements of this signature.
    package mutating func writeArray(of signature: String, _ elements: (inout Writer) -> Void) {
        guard let array = marshaller?.beginArray(of: signature) else {
            return appendContainer(keychaind_dbus_type_array, signature, elements)
        }
        elements(&self)
        marshaller?.end(array)
    }

    /// An array of structures or dictionary entries that is written in several turns of the loop, from which elements
    /// can be removed until its end.
    package struct OpenArray {
        fileprivate let array: Marshaller.OpenArray
        fileprivate var elements: [Range<Int>] = []
    }

    /// Begins such an array, in a reply of ``MethodCall/beginReply()`` only.
    package mutating func beginArray(of signature: String) -> OpenArray {
        guard let array = marshaller?.beginArray(of: signature) else {
            preconditionFailure("libdbus keeps an iterator for each level")
        }
        return OpenArray(array: array)
    }

    /// Writes an element.
    package mutating func write(in array: inout OpenArray, _ element: (inout Writer) -> Void) {
        let start = marshaller?.beginElement() ?? 0
        element(&self)
        array.elements.append(start..<(marshaller?.end ?? start))
    }

    /// Removes the elements with these numbers, and overwrites what is left behind the others.
    package mutating func remove(_ numbers: Set<Int>, from array: inout OpenArray) {
        guard !numbers.isEmpty else { return }
        array.elements = array.elements.indices.lazy.filter { !numbers.contains($0) }.map { array.elements[$0] }
        marshaller?.keep(&array.elements, of: array.array)
    }

    package mutating func end(_ array: OpenArray) {
        marshaller?.end(array.array)
    }

    /// The bytes of an array so far.
    package func byteCount(of array: OpenArray) -> Int {
        array.elements.last.map { last in last.upperBound - array.elements[0].lowerBound } ?? 0
    }

    package mutating func writeEntry(_ keyAndValue: (inout Writer) -> Void) {
        guard marshaller?.beginStructure() != nil else {
            return appendContainer(keychaind_dbus_type_dict_entry, nil, keyAndValue)
        }
        keyAndValue(&self)
        marshaller?.endStructure()
    }

    package mutating func writeProperty(_ name: String, _ value: some WritableValue) {
        writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }

    private mutating func appendContainer(_ type: Int32, _ signature: String?, _ body: (inout Writer) -> Void) {
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
