/// Tells sessions apart, and prompts.
///
/// Random: a client that still holds the path of a session from before a restart of the service must get `NoSession`, never
/// somebody's new session with another key.
struct ObjectNumber: Hashable, Sendable, CustomStringConvertible {
    private let rawValue: UInt64

    static func random() -> ObjectNumber {
        ObjectNumber(rawValue: .random(in: .min ... .max))
    }

    private init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Reads the last element of a path; nil unless it is written as ``description`` writes it.
    init?(_ element: Substring) {
        guard let number = UInt64(element, radix: 36), String(number, radix: 36) == element else { return nil }
        rawValue = number
    }

    var description: String { String(rawValue, radix: 36) }
}
