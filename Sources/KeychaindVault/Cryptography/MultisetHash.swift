/// A keyed hash over the items of a collection that reveals removed, added or rolled-back items.
///
/// The sum of HMAC-SHA256(integrity key, id ‖ revision) over all items, modulo 2²⁵⁶. An update takes constant time, and
/// a valid sum requires the key.
struct MultisetHash: Equatable, Sendable {
    static let size = 32

    // Least significant first.
    private var limbs: SIMD4<UInt64> = .zero

    init() {}

    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        for index in 0..<4 {
            limbs[3 - index] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        for index in 0..<4 { bytes.append(bigEndian: limbs[3 - index]) }
        return bytes
    }

    mutating func add(_ other: MultisetHash) {
        var carry: UInt64 = 0
        for index in 0..<4 {
            let (sum, first) = limbs[index].addingReportingOverflow(other.limbs[index])
            let (total, second) = sum.addingReportingOverflow(carry)
            limbs[index] = total
            carry = first || second ? 1 : 0
        }
    }

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
