import CKeychaindDBus

/// Marshals replies and signals in memory, in the wire format of the D-Bus specification.
///
/// libdbus validates each appended value, looks up its place in the signature and grows the message by a few bytes,
/// which takes longer than the rest of a call. Here the body grows in place, and the signature at the end of the header
/// with it.
package struct Marshaller: ~Copyable {
    private static let headerSize = 192
    private static let bodySize = 320
    /// The limits of the specification.
    private static let longestArray = 64 << 20
    private static let longestMessage = 128 << 20

    private var header = WireBuffer(capacity: headerSize)
    private var body = WireBuffer(capacity: bodySize)
    private let receiver: String?
    private let opening: MessageHeader.Opening
    /// The number of open arrays and variants, whose contents are not part of the signature of the body.
    private var depth = 0
    private var hasTooLongArray = false

    package init(_ content: MessageHeader, serial: UInt32) {
        receiver = content.receiver
        opening = content.begin(in: &header, serial: serial)
    }

    /// Finishes the message; nil if it is too long.
    consuming func finish() -> OutgoingMessage? {
        let (receiver, opening, hasTooLongArray) = (receiver, opening, hasTooLongArray)
        var header = header
        let body = body
        MessageHeader.end(opening, in: &header, bodySize: body.count)
        guard !hasTooLongArray, header.count + body.count <= Marshaller.longestMessage else { return nil }
        return OutgoingMessage(to: receiver, header: header, body: body)
    }

    // MARK: Basic types

    mutating func append<Value: BitwiseCopyable>(_ type: Int32, _ value: Value) {
        note(type)
        body.append(value)
    }

    mutating func append(_ type: Int32, text: UnsafeRawBufferPointer) {
        note(type)
        body.append(text: text)
    }

    mutating func append(bytes: UnsafeRawBufferPointer) {
        note(keychaind_dbus_type_array)
        note(keychaind_dbus_type_byte)
        noteSize(bytes.count)
        body.append(UInt32(truncatingIfNeeded: bytes.count))
        body.append(contentsOf: bytes)
    }

    // MARK: Containers

    mutating func beginStructure() {
        note(keychaind_dbus_type_struct_begin)
        body.align(to: 8)
    }

    mutating func endStructure() {
        note(keychaind_dbus_type_struct_end)
    }

    mutating func beginVariant(_ signature: String) {
        note(keychaind_dbus_type_variant)
        depth += 1
        var signature = signature
        signature.withUTF8 { signature in
            body.append(UInt8(truncatingIfNeeded: signature.count))
            body.append(contentsOf: UnsafeRawBufferPointer(signature))
        }
        body.append(UInt8(0))
    }

    mutating func endVariant() {
        depth -= 1
    }

    mutating func beginArray(of signature: String) -> OpenArray {
        note(keychaind_dbus_type_array)
        var signature = signature
        let alignment = signature.withUTF8 { signature in
            if depth == 0 { header.append(contentsOf: UnsafeRawBufferPointer(signature)) }
            return Marshaller.alignment(of: signature.first)
        }
        depth += 1
        body.append(UInt32(0))
        let sizeOffset = body.count - MemoryLayout<UInt32>.size
        body.align(to: alignment)
        return OpenArray(sizeOffset: sizeOffset, start: body.count)
    }

    mutating func end(_ array: OpenArray) {
        depth -= 1
        noteSize(body.count - array.start)
        body.replace(at: array.sizeOffset, with: UInt32(truncatingIfNeeded: body.count - array.start))
    }

    /// Begins an element of an array of structures, and returns where it begins.
    mutating func beginElement() -> Int {
        body.align(to: 8)
        return body.count
    }

    /// The end of what was written so far.
    var end: Int { body.count }

    /// Removes the elements of an array that are not in `kept`, whose places are ascending; all begin at a multiple of
    /// eight bytes.
    mutating func keep(_ kept: inout [Range<Int>], of array: OpenArray) {
        var end = array.start
        for index in kept.indices {
            let start = (end + 7) & ~7
            body.clear(end..<start)
            body.move(kept[index], to: start)
            end = start + kept[index].count
            kept[index] = start..<end
        }
        body.truncate(to: end)
    }

    private mutating func noteSize(_ size: Int) {
        if size > Marshaller.longestArray { hasTooLongArray = true }
    }

    struct OpenArray {
        fileprivate let sizeOffset: Int
        fileprivate let start: Int
    }

    /// The alignment of a value, by the first character of its signature.
    private static func alignment(of type: UInt8?) -> Int {
        switch type {
        case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("), UInt8(ascii: "{"): 8
        default: 4
        }
    }

    private mutating func note(_ type: Int32) {
        guard depth == 0 else { return }
        header.append(UInt8(truncatingIfNeeded: type))
    }
}

/// The header of a reply or a signal.
package enum MessageHeader {
    /// The reply to the call with this serial number; an error reply if `error` is set.
    case answer(to: UInt32, of: String, error: ErrorName? = nil)
    /// A signal, either broadcast or to one receiver.
    case signal(ObjectPath, interface: String, member: String, to: String? = nil)

    private enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case errorName = 4
        case replySerial = 5
        case destination = 6
        case signature = 8
    }

    private static let noReplyExpected: UInt8 = 1
    private static let protocolVersion: UInt8 = 1
    private static let byteOrder = UInt8(ascii: 1.littleEndian == 1 ? "l" : "B")

    /// The offsets of the body size, the size of the fields, and the fields.
    private static let bodySizeOffset = 4
    private static let fieldsSizeOffset = 12
    private static let fieldsOffset = 16

    private var type: UInt8 {
        switch self {
        case .answer(_, _, error: nil): 2
        case .answer: 3
        case .signal: 4
        }
    }

    /// The name to which the message is sent; nil for a broadcast.
    var receiver: String? {
        switch self {
        case .answer(_, let caller, _): caller
        case .signal(_, _, _, let receiver): receiver
        }
    }

    struct Opening {
        /// The end of the fields without the signature.
        fileprivate let fieldsEnd: Int
        fileprivate let signatureStart: Int
    }

    /// Writes the part of the header that does not depend on the body, and begins the signature field.
    func begin(in buffer: inout WireBuffer, serial: UInt32) -> Opening {
        buffer.append(MessageHeader.byteOrder)
        buffer.append(type)
        buffer.append(MessageHeader.noReplyExpected)
        buffer.append(MessageHeader.protocolVersion)
        buffer.append(UInt32(0))
        buffer.append(serial)
        buffer.append(UInt32(0))
        switch self {
        case .answer(let serial, let caller, let error):
            MessageHeader.begin(.replySerial, "u", in: &buffer)
            buffer.append(serial)
            if let error { MessageHeader.append(.errorName, "s", error.rawValue, to: &buffer) }
            MessageHeader.append(.destination, "s", caller, to: &buffer)
        case .signal(let path, let interface, let member, let destination):
            MessageHeader.append(.path, "o", path.rawValue, to: &buffer)
            MessageHeader.append(.interface, "s", interface, to: &buffer)
            MessageHeader.append(.member, "s", member, to: &buffer)
            if let destination { MessageHeader.append(.destination, "s", destination, to: &buffer) }
        }
        let fieldsEnd = buffer.count
        MessageHeader.begin(.signature, "g", in: &buffer)
        buffer.append(UInt8(0))
        return Opening(fieldsEnd: fieldsEnd, signatureStart: buffer.count)
    }

    /// Completes the header after the signature of the body was appended to it.
    static func end(_ opening: Opening, in buffer: inout WireBuffer, bodySize: Int) {
        let signatureSize = buffer.count - opening.signatureStart
        if signatureSize == 0 {
            buffer.truncate(to: opening.fieldsEnd)
        } else {
            buffer.replace(at: opening.signatureStart - 1, with: UInt8(truncatingIfNeeded: signatureSize))
            buffer.append(UInt8(0))
        }
        buffer.replace(at: fieldsSizeOffset, with: UInt32(truncatingIfNeeded: buffer.count - fieldsOffset))
        buffer.replace(at: bodySizeOffset, with: UInt32(truncatingIfNeeded: bodySize))
        buffer.align(to: 8)
    }

    private static func begin(_ field: Field, _ type: Unicode.Scalar, in buffer: inout WireBuffer) {
        buffer.align(to: 8)
        buffer.append(field.rawValue)
        buffer.append(UInt8(1))
        buffer.append(UInt8(ascii: type))
        buffer.append(UInt8(0))
    }

    private static func append(_ field: Field, _ type: Unicode.Scalar, _ text: String, to buffer: inout WireBuffer) {
        begin(field, type, in: &buffer)
        buffer.append(text: text)
    }
}
