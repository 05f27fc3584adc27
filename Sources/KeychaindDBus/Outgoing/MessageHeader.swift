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
