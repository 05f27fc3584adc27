import KeychaindGcrypt
import KeychaindLog

/// The key slots as they are stored, in the open part of a record.
///
/// Big-endian: highest number that a slot has had (8), number of slots (2); for each slot its number (8), kind (8),
/// length of the parameters (4), parameters, length of the wrapped key (4), wrapped key, checksum (8); then zeros, so
/// that the frame takes a page.
struct SlotRecord {
    /// The frame without them, and a seal of nothing.
    private static let padded = 4096 - 96 - SealingKey.overhead

    var highest: Int64 = 0
    var slots: [KeySlot] = []

    /// The number of slots that do not match their checksum.
    var damaged = 0

    init(_ header: CollectionHeader) {
        highest = header.highestSlot
        slots = header.slots
    }

    func encoded(in collection: [UInt8]) throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: slots.reduce(highest) { highest, slot in max(highest, slot.id) })
        bytes.append(bigEndian: UInt16(slots.count))
        for slot in slots {
            bytes.append(bigEndian: slot.id)
            bytes.append(bigEndian: slot.kind)
            for part in [slot.parameters, slot.wrapped] {
                bytes.append(bigEndian: UInt32(part.count))
                bytes += part
            }
            bytes += try slot.check(in: collection)
        }
        return bytes + [UInt8](repeating: 0, count: max(0, Self.padded - bytes.count))
    }

    /// Reads what is whole.
    init(_ bytes: UnsafeRawBufferPointer, in collection: [UInt8]) throws(VaultError) {
        var reader = ByteReader(bytes)
        guard let highest = reader.integer(Int64.self), let count = reader.integer(UInt16.self),
            count <= CollectionFormat.maximumSlots
        else {
            damaged = 1
            return
        }
        self.highest = highest
        for index in 0..<Int(count) {
            guard let id = reader.integer(Int64.self), let kind = reader.integer(Int64.self),
                let parameters = reader.integer(UInt32.self).flatMap({ length in reader.bytes(Int(length)) }),
                let wrapped = reader.integer(UInt32.self).flatMap({ length in reader.bytes(Int(length)) }),
                let checksum = reader.bytes(KeySlot.checksumSize)
            else {
                damaged += Int(count) - index
                return
            }
            let slot = KeySlot(id: id, kind: kind, parameters: Array(parameters), wrapped: Array(wrapped))
            if try slot.check(in: collection).elementsEqual(checksum) { slots.append(slot) } else { damaged += 1 }
        }
    }

    /// Adds what only the other copy has whole.
    mutating func add(_ other: SlotRecord) {
        let known = Set(slots.map(\.id))
        let found = other.slots.filter { slot in !known.contains(slot.id) }
        damaged = min(max(0, damaged - found.count), other.damaged)
        slots = (slots + found).sorted { first, second in first.id < second.id }
        highest = max(highest, other.highest)
    }
}
