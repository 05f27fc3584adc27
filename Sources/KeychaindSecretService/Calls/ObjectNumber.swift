/// The random number of a session, prompt or context.
///
/// After a restart of the service, a client with an old session path must get `NoSession`, never another client's new
/// session.
struct ObjectNumber: Hashable, Sendable {
    private let rawValue: UInt64

    private static let digitCount = 16

    static func random() -> ObjectNumber {
        ObjectNumber(rawValue: .random(in: .min ... .max))
    }

    private init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Parses the last element of a path: 16 lower-case hexadecimal digits.
    init?(_ element: UnsafeRawBufferPointer) {
        guard element.count == ObjectNumber.digitCount else { return nil }
        var value: UInt64 = 0
        for byte in element {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        rawValue = value
    }
}

extension ObjectNumber: CustomStringConvertible {
    var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: ObjectNumber.digitCount - digits.utf8.count) + digits
    }
}
