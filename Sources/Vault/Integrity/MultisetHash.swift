/// A sum over the items of a collection that shows whether one was dropped, added or brought back from an earlier time.
///
/// Each item adds HMAC-SHA256(integrity key, id ‖ revision), read as a number, modulo 2²⁵⁶; so a change costs the same
/// whatever the number of items. Only who has the key can make a sum come out right.
struct MultisetHash: Equatable, Sendable {
    /// The size of a sum in bytes.
    static let size = 32

    // From the least significant 64 bits up.
    private var limbs: SIMD4<UInt64> = .zero

    /// The sum over nothing.
    init() {}

    /// Reads a sum, most significant byte first; nil unless there are 32 bytes.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        for index in 0..<4 {
            limbs[3 - index] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
    }

    /// The sum, most significant byte first.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        for index in 0..<4 { bytes.append(bigEndian: limbs[3 - index]) }
        return bytes
    }

    /// Adds an item's number.
    mutating func add(_ other: MultisetHash) {
        var carry: UInt64 = 0
        for index in 0..<4 {
            let (sum, first) = limbs[index].addingReportingOverflow(other.limbs[index])
            let (total, second) = sum.addingReportingOverflow(carry)
            limbs[index] = total
            carry = first || second ? 1 : 0
        }
    }

    /// Takes an item's number away.
    mutating func subtract(_ other: MultisetHash) {
        var borrow: UInt64 = 0
        for index in 0..<4 {
            let (difference, first) = limbs[index].subtractingReportingOverflow(other.limbs[index])
            let (total, second) = difference.subtractingReportingOverflow(borrow)
            limbs[index] = total
            borrow = first || second ? 1 : 0
        }
    }
}
