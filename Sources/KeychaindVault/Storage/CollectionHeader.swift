package import KeychaindGcrypt
import KeychaindLog
package import KeychaindModel

/// The public part of a collection's file, readable without a key.
package struct CollectionHeader: Equatable, Sendable {
    /// The identifier that all sealed data is bound to: 16 random bytes.
    var identifier: [UInt8]

    /// The display name at the last write.
    var label: String
    var created: Timestamp
    var modified: Timestamp

    var indexKey: [UInt8]

    var slots: [StoredSlot]

    /// The highest slot number in the file, damaged slots included.
    var highestSlot: Int64 = 0

    /// The number of stored slots that do not match their checksum.
    var damagedSlots = 0

    package init(
        identifier: [UInt8],
        label: String,
        created: Timestamp,
        modified: Timestamp,
        indexKey: [UInt8],
        slots: [StoredSlot]
    ) {
        self.identifier = identifier
        self.label = label
        self.created = created
        self.modified = modified
        self.indexKey = indexKey
        self.slots = slots
    }

    var problem: String? {
        guard damagedSlots > 0 else { return nil }
        return "\(damagedSlots) of its key slots \(damagedSlots.isOrAre) damaged and cannot open the collection"
    }

    var hasPassword: Bool {
        slots.contains { slot in slot.kind == StoredSlot.Kind.password.rawValue }
    }

    var unusedSlot: Int64 {
        max(highestSlot, slots.map(\.id).max() ?? 0) &+ 1
    }

    func master(password: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
        let opened = try open(byPassword: password)
        guard let opened = consume opened else { return nil }
        return opened.master
    }

    /// Opens the first slot that a password or recovery key opens; nil when there is none.
    ///
    /// Throws `mistypedRecoveryKey` if no slot opens and the text looks like a recovery key with a mistake.
    func open(with text: borrowing SecureBytes) throws(VaultError) -> OpenedSlot? {
        let opened = try open(byPassword: text)
        if let opened = consume opened { return opened }
        guard slots.contains(where: { slot in slot.kind == StoredSlot.Kind.recoveryKey.rawValue }),
            let key = try RecoveryKey.read(text)
        else { return nil }
        return try open { (slot) throws(VaultError) in
            try RecoverySlot.open(slot, with: key, collection: identifier)
        }
    }

    /// The most work for one password in all slots together, as ``Argon2id/work``; our own slots need less.
    private static let maximumWork = 16 << 20

    /// Tries the slots of passwords.
    ///
    /// All other derivations wait meanwhile, so no file may make it take hours.
    package func open(
        byPassword password: borrowing SecureBytes,
        upTo work: Int = maximumWork
    ) throws(VaultError) -> OpenedSlot? {
        var rest = work
        return try open { (slot) throws(VaultError) in
            let cost = PasswordSlot.work(of: slot) ?? 0
            guard cost <= rest else {
                throw VaultError(.unreadable, reason: "key slot \(slot.id) costs too much beside the others")
            }
            rest -= cost
            return try PasswordSlot.open(slot, password: password, collection: identifier)
        }
    }

    /// Tries all slots; an unreadable slot does not stop the search.
    func open(
        by attempt: (StoredSlot) throws(VaultError) -> SecureBytes?
    ) throws(VaultError) -> OpenedSlot? {
        var failure: VaultError?
        for slot in slots {
            do throws(VaultError) {
                if let master = try attempt(slot) { return OpenedSlot(slot: slot, master: master) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }
}

/// The key slots as they are stored, in the open part of a record.
///
/// Big-endian: highest number that a slot has had (8), number of slots (2); for each slot its number (8), kind (8),
/// length of the parameters (4), parameters, length of the wrapped key (4), wrapped key, checksum (8); then zeros, so
/// that the frame takes a page.
struct SlotRecord {
    /// The frame without them, and a seal of nothing.
    private static let padded = 4096 - 96 - SealingKey.overhead

    var highest: Int64 = 0
    var slots: [StoredSlot] = []

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
        var reader = FieldReader(bytes)
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
                let checksum = reader.bytes(StoredSlot.checksumSize)
            else {
                damaged += Int(count) - index
                return
            }
            let slot = StoredSlot(id: id, kind: kind, parameters: Array(parameters), wrapped: Array(wrapped))
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
