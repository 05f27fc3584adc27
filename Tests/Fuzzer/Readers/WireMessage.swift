import CKeychaindDBus

@testable import KeychaindDBus

/// A message as it comes over a socket, whose body is any bytes; a method call unless `kind` says otherwise.
///
/// libdbus validates it as it does received ones; most bodies that are made at random do not get further.
struct WireMessage {
    enum Kind {
        case call
        case reply(to: UInt32)
        case error(to: UInt32, ErrorName)
        case signal
    }

    var kind = Kind.call
    var sender: String?
    var path: String? = "/"
    var interface: String?
    var member: String? = "A"
    var signature: String
    /// The number of descriptors that come with it.
    var descriptors: UInt32 = 0

    /// The message with a body, little-endian; nil unless libdbus takes it.
    func message(_ body: some Collection<UInt8>) -> Message? {
        bytes(body).withUnsafeBytes { bytes in Self.demarshal(bytes) }
    }

    func bytes(_ body: some Collection<UInt8>) -> [UInt8] {
        header(bodySize: body.count) + body
    }

    /// Any bytes as a message; nil unless libdbus takes them.
    static func demarshal(_ bytes: UnsafeRawBufferPointer) -> Message? {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
        return dbus_message_demarshal(start, CInt(clamping: bytes.count), nil).map(Message.init(received:))
    }

    private func header(bodySize: Int) -> [UInt8] {
        var fields = Fields()
        fields.add(1, "o", path)
        fields.add(2, "s", interface)
        fields.add(3, "s", member)
        let type: Int32
        switch kind {
        case .call: type = keychaind_dbus_message_method_call
        case .reply(let serial):
            type = DBUS_MESSAGE_TYPE_METHOD_RETURN
            fields.add(5, serial)
        case .error(let serial, let name):
            type = keychaind_dbus_message_error
            fields.add(4, "s", name.rawValue)
            fields.add(5, serial)
        case .signal: type = keychaind_dbus_message_signal
        }
        fields.add(7, "s", sender)
        if !signature.isEmpty { fields.add(8, "g", signature) }
        if descriptors > 0 { fields.add(9, descriptors) }
        // Little-endian, its type, without flags, version 1, body, serial, and the fields, which begin at 16.
        var header = [UInt8(ascii: "l"), UInt8(clamping: type), 0, 1]
        header += Self.bytes(UInt32(clamping: bodySize)) + Self.bytes(1)
        header += Self.bytes(UInt32(clamping: fields.bytes.count)) + fields.bytes
        while !header.count.isMultiple(of: 8) { header.append(0) }
        return header
    }

    /// The fields of a header.
    private struct Fields {
        private(set) var bytes: [UInt8] = []

        mutating func add(_ code: UInt8, _ type: Character, _ text: String?) {
            guard let text, let type = type.asciiValue else { return }
            begin(code, type)
            if type == UInt8(ascii: "g") {
                bytes.append(UInt8(clamping: text.utf8.count))
            } else {
                bytes += WireMessage.bytes(UInt32(clamping: text.utf8.count))
            }
            bytes += text.utf8
            bytes.append(0)
        }

        mutating func add(_ code: UInt8, _ number: UInt32) {
            begin(code, UInt8(ascii: "u"))
            bytes += WireMessage.bytes(number)
        }

        private mutating func begin(_ code: UInt8, _ type: UInt8) {
            while !bytes.count.isMultiple(of: 8) { bytes.append(0) }
            bytes += [code, 1, type, 0]
        }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }
}
