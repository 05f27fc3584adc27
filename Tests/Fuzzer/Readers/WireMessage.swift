import CKeychaindDBus

@testable import KeychaindDBus

/// A method call as it comes over a socket, whose body is any bytes.
///
/// libdbus validates it as it does received ones; most bodies that are made at random do not get further.
struct WireMessage {
    var sender: String?
    var path = "/"
    var interface: String?
    var member = "A"
    var signature: String

    /// The message with a body, little-endian; nil unless libdbus takes it.
    func message(_ body: some Collection<UInt8>) -> Message? {
        let bytes = header(bodySize: body.count) + body
        return bytes.withUnsafeBytes { bytes in
            Self.demarshal(bytes)
        }
    }

    /// Any bytes as a message; nil unless libdbus takes them.
    static func demarshal(_ bytes: UnsafeRawBufferPointer) -> Message? {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
        return dbus_message_demarshal(start, CInt(clamping: bytes.count), nil).map(Message.init(received:))
    }

    private func header(bodySize: Int) -> [UInt8] {
        var fields: [UInt8] = []
        func add(_ code: UInt8, _ type: Character, _ text: String?) {
            guard let text, let type = type.asciiValue else { return }
            while !fields.count.isMultiple(of: 8) { fields.append(0) }
            fields += [code, 1, type, 0]
            if type == UInt8(ascii: "g") {
                fields.append(UInt8(clamping: text.utf8.count))
            } else {
                fields += Self.bytes(UInt32(clamping: text.utf8.count))
            }
            fields += Array(text.utf8) + [0]
        }
        add(1, "o", path)
        add(2, "s", interface)
        add(3, "s", member)
        add(7, "s", sender)
        if !signature.isEmpty { add(8, "g", signature) }
        // Little-endian, a method call without activation, version 1, body, serial, and the fields, which begin at 16.
        var header = [UInt8(ascii: "l"), 1, 0, 1] + Self.bytes(UInt32(clamping: bodySize)) + Self.bytes(1)
        header += Self.bytes(UInt32(clamping: fields.count)) + fields
        while !header.count.isMultiple(of: 8) { header.append(0) }
        return header
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }
}
