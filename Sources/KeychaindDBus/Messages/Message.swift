import CKeychaindDBus
import CKeychaindLinux

/// A reference-counted message of libdbus.
///
/// `@unchecked Sendable`: libdbus counts references atomically, and only one owner writes to a message: its maker
/// before it is sent, or its receiver after the last read.
package final class Message: @unchecked Sendable {
    private enum Origin {
        /// Created here; the creator overwrites secrets.
        case made
        /// Received; its byte arrays are overwritten on deinit.
        case received
        /// Received and overwritten.
        case wiped
    }

    package let pointer: OpaquePointer
    private var origin: Origin
    /// Given back after the descriptors are closed.
    var descriptorPlaces: ReceivedDescriptors.Places?

    package init(owning pointer: OpaquePointer) {
        self.pointer = pointer
        origin = .made
    }

    /// Takes ownership of a received message, which no other code reads afterwards.
    package init(received pointer: OpaquePointer) {
        self.pointer = pointer
        origin = .received
    }

    deinit {
        if case .received = origin { Message.wipeByteArrays(of: pointer) }
        dbus_message_unref(pointer)
    }

    package static func call(to destination: String, _ path: ObjectPath, _ interface: String, _ member: String)
        -> Message
    {
        Message(owning: allocated(dbus_message_new_method_call(destination, path.rawValue, interface, member)))
    }

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

    package func write(_ body: (inout Writer) -> Void) {
        var writer = Writer(appendingTo: pointer)
        body(&writer)
    }

    package func append<each Value: BusValue>(_ values: repeat each Value) {
        var writer = Writer(appendingTo: pointer)
        repeat (each values).write(to: &writer)
    }

    /// Keeps the bus from activating the destination.
    package func forbidActivation() {
        dbus_message_set_auto_start(pointer, 0)
    }

    /// Whether the caller set `NO_AUTO_START`.
    package var forbidsActivation: Bool { dbus_message_get_auto_start(pointer) == 0 }

    package func setDestination(_ name: String) {
        dbus_message_set_destination(pointer, name)
    }

    /// Only before the message is sent.
    package func expectNoReply() {
        dbus_message_set_no_reply(pointer, 1)
    }

    /// Retains the message.
    package func makeReader() -> Reader {
        Reader(self)
    }

    /// The message must have exactly these types.
    package func read<each Value: BusValue>(_ types: repeat (each Value).Type) throws(BusError) -> (repeat each Value) {
        var reader = makeReader()
        let values = try (repeat Message.next(each types, &reader))
        guard reader.isAtEnd else { throw BusError(.invalidArguments, "more arguments than expected") }
        return values
    }

    private static func next<Value: BusValue>(_ type: Value.Type, _ reader: inout Reader) throws(BusError) -> Value {
        try Value(from: &reader)
    }

    /// The unique name of the sender; empty before the bus sets it.
    package var sender: String { String(optional: dbus_message_get_sender(pointer)) ?? "" }
    var destination: String { String(optional: dbus_message_get_destination(pointer)) ?? "" }
    package var path: String? { String(optional: dbus_message_get_path(pointer)) }

    /// The path is empty if the message has none.
    func withPath<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let path = dbus_message_get_path(pointer) else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return body(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    package var interface: String? { String(optional: interfaceName) }
    package var member: String? { String(optional: memberName) }

    /// Valid as long as the message.
    var interfaceName: UnsafePointer<CChar>? { dbus_message_get_interface(pointer) }

    /// Valid as long as the message.
    var memberName: UnsafePointer<CChar>? { dbus_message_get_member(pointer) }

    package var signature: String { String(optional: dbus_message_get_signature(pointer)) ?? "" }

    var serial: UInt32 { dbus_message_get_serial(pointer) }

    package var wantsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }

    package var error: BusError? {
        guard dbus_message_get_type(pointer) == keychaind_dbus_message_error else { return nil }
        let name = String(optional: dbus_message_get_error_name(pointer)).map(ErrorName.init(rawValue:)) ?? .failed
        var reader = makeReader()
        return BusError(name, (try? String(from: &reader)) ?? "")
    }

    /// Whether a received message can be the reply of the connection that was called; the bus replies for any.
    ///
    /// libdbus makes replies without a sender itself. Who owns a well-known name is not known, so that any program may
    /// reply in its name.
    static func isReply(_ message: OpaquePointer, of destination: String) -> Bool {
        guard let sender = dbus_message_get_sender(message).map({ String(cString: $0) }),
            destination.hasPrefix(":") || destination == SignalMatch.bus
        else { return true }
        return sender == destination || sender == SignalMatch.bus
    }

    /// Overwrites every byte array, as they may hold secrets; libdbus caches used messages with their bodies.
    ///
    /// Only for a message that is not read any more: received and answered, or sent and out of the queue. A received
    /// message is overwritten on deinit, unless it was before.
    ///
    /// - Parameter first: the number of leading arguments that hold no secrets.
    package func wipeByteArrays(leaving first: Int = 0) {
        guard Message.mayHoldByteArrays(pointer) else { return }
        var reader = makeReader()
        for _ in 0..<first {
            reader.skip()
        }
        reader.wipe(.byteArrays)
        if case .received = origin { origin = .wiped }
    }

    static func wipeByteArrays(of pointer: OpaquePointer) {
        guard mayHoldByteArrays(pointer) else { return }
        var reader = Reader(borrowing: pointer)
        reader.wipe(.byteArrays)
    }

    /// Whether the signature of a message allows byte arrays.
    static func mayHoldByteArrays(_ pointer: OpaquePointer) -> Bool {
        guard let signature = dbus_message_get_signature(pointer) else { return false }
        return strpbrk(signature, "yv") != nil
    }

    /// Overwrites every string of the message, for protocols with secrets in strings; see ``wipeByteArrays(leaving:)``.
    package func wipeStrings() {
        var reader = makeReader()
        reader.wipe(.strings)
    }

    /// libdbus returns nil only when it is out of memory, where Swift traps too.
    private static func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
        guard let pointer else { preconditionFailure("out of memory") }
        return pointer
    }
}

extension String {
    init?(optional text: UnsafePointer<CChar>?) {
        guard let text else { return nil }
        self.init(cString: text)
    }
}

extension Message {
    package func hasSignature(_ signature: String) -> Bool {
        dbus_message_has_signature(pointer, signature) != 0
    }

    /// The size of the arguments in bytes, without numbers and padding: the memory that a pending call keeps.
    package var argumentSize: Int {
        var reader = makeReader()
        return reader.size()
    }

    func hasSignature(_ signature: WireName) -> Bool {
        dbus_message_get_signature(pointer).map(signature.matches) ?? false
    }

    var isForPeerInterface: Bool { interfaceName.map(Message.peerInterface.matches) ?? false }

    private static let peerInterface = WireName(StandardInterface.peer)

    /// Whether the arguments begin with a list, which a caller can make as long as a message.
    var mayBeLarge: Bool { dbus_message_get_signature(pointer)?.pointee == CChar(keychaind_dbus_type_array) }
}
