import CKeychaindDBus
import CKeychaindLinux

extension Message {
    var hasDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }

    /// The number of descriptors that came with a message; nil if its header has fields of unknown types.
    ///
    /// libdbus has no function for it, so the marshalled header is read.
    var descriptorCount: Int? {
        guard hasDescriptors else { return 0 }
        var start: UnsafeMutablePointer<CChar>?
        var size: Int32 = 0
        guard dbus_message_marshal(pointer, &start, &size) != 0, let start else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(size))
        defer {
            explicit_bzero(start, bytes.count)
            dbus_free(start)
        }
        return MarshalledHeader(bytes).number(of: MarshalledHeader.descriptors)
    }
}

/// The fields in the header of a marshalled message (D-Bus Specification, "Message Format").
private struct MarshalledHeader {
    /// The code of the field `UNIX_FDS`.
    static let descriptors: UInt8 = 9

    private static let start = 16

    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The value of a field that is a number; nil if it is missing, or comes behind one of an unknown type.
    func number(of code: UInt8) -> Int? {
        guard let size = number(at: 12), size <= bytes.count - MarshalledHeader.start else { return nil }
        var offset = MarshalledHeader.start
        while offset < MarshalledHeader.start + size {
            // A field is a structure of its code and a variant, whose signature has one letter here.
            offset = aligned(offset, to: 8)
            guard offset + 4 < bytes.count, bytes[offset + 1] == 1 else { return nil }
            switch bytes[offset + 2] {
            case UInt8(ascii: "u"):
                if bytes[offset] == code { return number(at: offset + 4) }
                offset += 8
            case UInt8(ascii: "s"), UInt8(ascii: "o"):
                guard let count = number(at: offset + 4) else { return nil }
                offset += 8 + count + 1
            case UInt8(ascii: "g"):
                offset += 5 + Int(bytes[offset + 4]) + 1
            default:
                return nil
            }
        }
        return nil
    }

    private func number(at offset: Int) -> Int? {
        guard offset + 4 <= bytes.count else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let isBigEndian = bytes[0] == UInt8(ascii: "B")
        return Int(isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value))
    }

    private func aligned(_ offset: Int, to boundary: Int) -> Int { (offset + boundary - 1) & ~(boundary - 1) }
}
