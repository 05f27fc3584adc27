import CDBus
import CLinux

/// A message on the bus, its reference held until this object goes.
///
/// `@unchecked Sendable`: libdbus counts references atomically, and a message is only written to by whoever has made it,
/// before it is sent, and by whoever has received it, once nobody reads it any more.
package final class Message: @unchecked Sendable {
    private enum Origin {
        /// Made in this process; its maker overwrites secrets in it.
        case made
        /// Received; its byte arrays are overwritten when this object goes.
        case received
        /// Received, and overwritten already.
        case wiped
    }

    /// libdbus's message.
    package let pointer: OpaquePointer
    private var origin: Origin

    /// Takes over a reference to a message that was made here.
    package init(owning pointer: OpaquePointer) {
        self.pointer = pointer
        origin = .made
    }

    /// Takes over the reference to a message that has arrived, which nobody else reads afterwards.
    package init(received pointer: OpaquePointer) {
        self.pointer = pointer
        origin = .received
    }

    deinit {
        if case .received = origin { Message.wipeByteArrays(of: pointer) }
        dbus_message_unref(pointer)
    }

    /// A call of a method.
    package static func call(to destination: String, _ path: ObjectPath, _ interface: String, _ member: String)
        -> Message
    {
        Message(owning: allocated(dbus_message_new_method_call(destination, path.rawValue, interface, member)))
    }

    /// A signal, for everybody or for one receiver.
    package static func signal(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        to destination: String? = nil
    ) -> Message {
        let message = Message(owning: allocated(dbus_message_new_signal(path.rawValue, interface, member)))
        if let destination {
            dbus_message_set_destination(message.pointer, destination)
        }
        return message
    }

    /// Appends values.
    package func write(_ body: (inout Writer) -> Void) {
        var writer = Writer(appendingTo: pointer)
        body(&writer)
    }

    /// Appends values, in order.
    package func append<each Value: BusValue>(_ values: repeat each Value) {
        var writer = Writer(appendingTo: pointer)
        repeat (each values).write(to: &writer)
    }

    /// Has the bus refuse the message, and not start a program, when nobody has the name.
    package func forbidActivation() {
        dbus_message_set_auto_start(pointer, 0)
    }

    /// Addresses the message anew, before it is sent.
    package func setDestination(_ name: String) {
        dbus_message_set_destination(pointer, name)
    }

    /// Says that no answer is wanted, before the call is sent.
    package func expectNoReply() {
        dbus_message_set_no_reply(pointer, 1)
    }

    /// A reader at the first value, which keeps the message.
    package func makeReader() -> Reader {
        Reader(self)
    }

    /// Reads all values; they must be just these.
    package func read<each Value: BusValue>(_ types: repeat (each Value).Type) throws(BusError) -> (repeat each Value) {
        var reader = makeReader()
        let values = try (repeat Message.next(each types, &reader))
        guard reader.isAtEnd else { throw BusError(.invalidArguments, "more arguments than expected") }
        return values
    }

    private static func next<Value: BusValue>(_ type: Value.Type, _ reader: inout Reader) throws(BusError) -> Value {
        try Value(from: &reader)
    }

    /// The unique name of the sender; empty before the bus has set it.
    package var sender: String { String(optional: dbus_message_get_sender(pointer)) ?? "" }
    package var path: String? { String(optional: dbus_message_get_path(pointer)) }

    /// Lends the path without copying it; empty if there is none.
    func withPath<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let path = dbus_message_get_path(pointer) else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return body(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    package var interface: String? { String(optional: interfaceName) }
    package var member: String? { String(optional: memberName) }

    /// The interface where it lies in the message.
    var interfaceName: UnsafePointer<CChar>? { dbus_message_get_interface(pointer) }

    /// The member where it lies in the message.
    var memberName: UnsafePointer<CChar>? { dbus_message_get_member(pointer) }

    package var signature: String { String(optional: dbus_message_get_signature(pointer)) ?? "" }

    /// Whether the caller waits for an answer.
    package var wantsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }

    /// The error that this message is, if it is one.
    package var error: BusError? {
        guard dbus_message_get_type(pointer) == keychaind_dbus_message_error else { return nil }
        let name = String(optional: dbus_message_get_error_name(pointer)).map(ErrorName.init(rawValue:)) ?? .failed
        var reader = makeReader()
        return BusError(name, (try? String(from: &reader)) ?? "")
    }

    /// Overwrites every byte array in the message, where secrets are.
    ///
    /// libdbus keeps used messages in a cache, body and all. Only for a message that nobody reads any more: received and
    /// answered, or sent and out of the outgoing queue. A received one is overwritten with its last reference in any case.
    ///
    /// - Parameter first: how many arguments to leave as they are, because no secret is in them: looking for one takes longer than
    ///   reading them.
    package func wipeByteArrays(leaving first: Int = 0) {
        var reader = makeReader()
        for _ in 0..<first {
            reader.skip()
        }
        reader.wipe(.byteArrays)
        if first == 0, case .received = origin { origin = .wiped }
    }

    /// Overwrites every byte array in one of libdbus's messages.
    static func wipeByteArrays(of pointer: OpaquePointer) {
        guard mayHoldByteArrays(pointer) else { return }
        var reader = Reader(borrowing: pointer)
        reader.wipe(.byteArrays)
    }

    /// Whether a message can have bytes among its values, by its signature alone.
    static func mayHoldByteArrays(_ pointer: OpaquePointer) -> Bool {
        guard let signature = dbus_message_get_signature(pointer) else { return false }
        return strpbrk(signature, "yv") != nil
    }

    /// Overwrites every string in the message, for a protocol that has a secret in one; see ``wipeByteArrays()``.
    package func wipeStrings() {
        var reader = makeReader()
        reader.wipe(.strings)
    }

    /// libdbus answers nil only when memory has run out, where Swift itself gives up too.
    private static func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
        guard let pointer else { preconditionFailure("out of memory") }
        return pointer
    }
}

extension String {
    /// Copies a C string, if there is one.
    init?(optional text: UnsafePointer<CChar>?) {
        guard let text else { return nil }
        self.init(cString: text)
    }
}
