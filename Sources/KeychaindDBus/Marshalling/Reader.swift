import CKeychaindDBus
import CKeychaindLinux

/// Reads the values of a message in order.
///
/// libdbus validates each message on arrival: UTF-8, object paths, container lengths. The reader checks the types.
package struct Reader: ~Copyable {
    private var iterator = DBusMessageIter()

    // Keeps the memory of the iterator alive; nil if somebody else does, as for a nested reader.
    private let message: Message?

    init(_ message: Message) {
        self.message = message
        dbus_message_iter_init(message.pointer, &iterator)
    }

    /// The caller keeps the message alive.
    init(borrowing message: OpaquePointer) {
        dbus_message_iter_init(message, &iterator)
        self.message = nil
    }

    private init(iterator: DBusMessageIter) {
        self.iterator = iterator
        message = nil
    }

    package var isAtEnd: Bool {
        mutating get { type == keychaind_dbus_type_invalid }
    }

    /// The signature of the next value; empty at the end.
    package var nextSignature: String {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
            defer { dbus_free(text) }
            return String(cString: text)
        }
    }

    private var type: Int32 {
        mutating get { dbus_message_iter_get_arg_type(&iterator) }
    }

    package mutating func skip() {
        dbus_message_iter_next(&iterator)
    }

    // MARK: Basic types

    mutating func readBasic<Value: BitwiseCopyable>(_ type: Int32, into value: inout Value) throws(BusError) {
        try expect(type)
        dbus_message_iter_get_basic(&iterator, &value)
        dbus_message_iter_next(&iterator)
    }

    package mutating func withString<Result>(_ body: (UnsafePointer<CChar>) -> Result) throws(BusError) -> Result {
        try withText(keychaind_dbus_type_string, body)
    }

    package mutating func withObjectPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) throws(BusError) -> Result {
        try withText(keychaind_dbus_type_object_path, body)
    }

    private mutating func withText<Result>(
        _ type: Int32,
        _ body: (UnsafePointer<CChar>) -> Result
    ) throws(BusError) -> Result {
        var text: UnsafePointer<CChar>?
        try readBasic(type, into: &text)
        guard let text else { throw BusError(.invalidArguments, "expected a string") }
        return body(text)
    }

    package mutating func withBytes<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        let bytes = try nextBytes()
        dbus_message_iter_next(&iterator)
        return try body(UnsafeRawBufferPointer(bytes))
    }

    private mutating func nextBytes() throws(BusError) -> UnsafeBufferPointer<UInt8> {
        try expect(keychaind_dbus_type_array)
        guard dbus_message_iter_get_element_type(&iterator) == keychaind_dbus_type_byte else {
            throw BusError(.invalidArguments, "expected an argument of type 'ay'")
        }
        var elements = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &elements)
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        dbus_message_iter_get_fixed_array(&elements, &start, &count)
        return UnsafeBufferPointer(start: start, count: Int(count))
    }

    // MARK: Containers

    package mutating func readStructure<Result: ~Copyable>(
        _ body: (inout Reader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try readContainer(keychaind_dbus_type_struct, body)
    }

    package mutating func readVariant<Result: ~Copyable>(
        _ body: (inout Reader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try readContainer(keychaind_dbus_type_variant, body)
    }

    /// Reads the value of a variant, which must have exactly this type.
    package mutating func readVariant<Value: BusValue>(of type: Value.Type) throws(BusError) -> Value {
        try readVariant { (reader) throws(BusError) in
            guard reader.isNext(Value.signature) else {
                throw BusError(
                    .invalidArguments,
                    "expected a value of type '\(Value.signature)', not '\(reader.nextSignature)'"
                )
            }
            return try Value(from: &reader)
        }
    }

    private mutating func isNext(_ signature: String) -> Bool {
        // Only the signature of an empty array reveals its element type.
        signature.utf8.count == 1 ? type == signature.utf8.first.map(Int32.init) : nextSignature == signature
    }

    /// Reads an array; the closure is called once per element and must read it.
    ///
    /// - Parameter limit: the most elements; an array with more throws `LimitsExceeded`.
    package mutating func readArray(
        limit: Int = .max,
        _ element: (inout Reader) throws(BusError) -> Void
    ) throws(BusError) {
        try readContainer(keychaind_dbus_type_array) { (reader) throws(BusError) in
            var count = 0
            while !reader.isAtEnd {
                guard count < limit else { throw Reader.tooMany(limit) }
                count += 1
                try element(&reader)
            }
        }
    }

    /// Begins an array whose elements are read in several turns of the loop, as long as this reader lives.
    package mutating func beginArray() throws(BusError) -> Reader {
        try expect(keychaind_dbus_type_array)
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return Reader(iterator: inner)
    }

    /// The error for an array with too many elements.
    package static func tooMany(_ limit: Int) -> BusError {
        BusError(.limitsExceeded, "a list has more than \(limit) entries")
    }

    /// Reads a dictionary; the closure is called once per entry and must read key and value.
    ///
    /// - Parameter limit: the most entries; a dictionary with more throws `LimitsExceeded`.
    package mutating func readDictionary(
        limit: Int = .max,
        _ entry: (inout Reader) throws(BusError) -> Void
    ) throws(BusError) {
        try readArray(limit: limit) { (reader) throws(BusError) in
            try reader.readContainer(keychaind_dbus_type_dict_entry, entry)
        }
    }

    private mutating func readContainer<Result: ~Copyable>(
        _ type: Int32,
        _ body: (inout Reader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try expect(type)
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        var reader = Reader(iterator: inner)
        let result = try body(&reader)
        dbus_message_iter_next(&iterator)
        return result
    }

    private mutating func expect(_ type: Int32) throws(BusError) {
        guard self.type == type else {
            let wanted = Character(UnicodeScalar(UInt8(truncatingIfNeeded: type)))
            throw BusError(.invalidArguments, "expected an argument of type '\(wanted)', not '\(nextSignature)'")
        }
    }

    // MARK: Sizes

    /// The size of the remaining values in bytes, without numbers and padding.
    mutating func size() -> Int {
        var size = 0
        while case let type = type, type != keychaind_dbus_type_invalid {
            switch type {
            case keychaind_dbus_type_array:
                var elements = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &elements)
                size += Int(keychaind_dbus_array_size(&elements))
            case keychaind_dbus_type_struct, keychaind_dbus_type_variant:
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                var reader = Reader(iterator: inner)
                size += reader.size()
            case keychaind_dbus_type_string, keychaind_dbus_type_object_path:
                var text: UnsafePointer<CChar>?
                dbus_message_iter_get_basic(&iterator, &text)
                size += text.map { strlen($0) } ?? 0
            default:
                break
            }
            dbus_message_iter_next(&iterator)
        }
        return size
    }

    // MARK: Wiping

    enum WipedType {
        case byteArrays
        case strings
    }

    mutating func wipe(_ wiped: WipedType) {
        while case let type = type, type != keychaind_dbus_type_invalid {
            switch type {
            case keychaind_dbus_type_array
            where dbus_message_iter_get_element_type(&iterator) == keychaind_dbus_type_byte:
                if wiped == .byteArrays, let bytes = try? nextBytes(), let start = bytes.baseAddress {
                    explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count)
                }
            case keychaind_dbus_type_array, keychaind_dbus_type_struct, keychaind_dbus_type_variant,
                keychaind_dbus_type_dict_entry:
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                var reader = Reader(iterator: inner)
                reader.wipe(wiped)
            case keychaind_dbus_type_string where wiped == .strings:
                wipeString()
            default:
                break
            }
            dbus_message_iter_next(&iterator)
        }
    }

    private mutating func wipeString() {
        var text: UnsafeMutablePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &text)
        if let text {
            explicit_bzero(text, strlen(text))
        }
    }
}
