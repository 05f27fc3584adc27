extension CollectionFile {
    func addSlots(to header: inout CollectionHeader) throws(VaultError) {
        let rows = try database.prepare(
            """
            SELECT id, kind, parameters, wrapped, checksum FROM slot ORDER BY id LIMIT \(CollectionFormat.maximumSlots)
            """
        )
        header.slots = []
        header.damagedSlots = 0
        while try rows.step() {
            let slot = KeySlot(
                id: rows.integer(at: 0),
                kind: rows.integer(at: 1),
                parameters: Array(rows.bytes(at: 2)),
                wrapped: Array(rows.bytes(at: 3))
            )
            let check = try slot.check(in: header.identifier)
            if check.elementsEqual(rows.bytes(at: 4)) { header.slots.append(slot) } else { header.damagedSlots += 1 }
        }
        header.highestSlot = try database.integer("SELECT max(id) FROM slot")
    }

    /// The outcome of replacing key slots.
    struct SlotReplacement: Sendable {
        /// The stored header instead, if they changed since they were read.
        let present: CollectionHeader?

        /// As of ``Database/store(_:)``.
        let doubt: VaultError?
    }

    /// Replaces the key slots in one transaction.
    func replaceSlots(
        of old: CollectionHeader,
        with slots: [KeySlot]
    ) throws(VaultError) -> SlotReplacement {
        let stored = try database.store { () throws(VaultError) -> CollectionHeader? in
            var present = old
            try addSlots(to: &present)
            guard present.slots == old.slots else { return present }
            for slot in old.slots where !slots.contains(slot) {
                try database.run("DELETE FROM slot WHERE id = ?1", .integer(slot.id))
            }
            for slot in slots where !old.slots.contains(slot) {
                try Self.insert(slot, of: old, into: database)
            }
            return nil
        }
        return SlotReplacement(present: stored.result, doubt: stored.doubt)
    }

    static func insert(
        _ slot: KeySlot,
        of header: CollectionHeader,
        into database: Database
    ) throws(VaultError) {
        try database.run(
            "INSERT INTO slot (id, kind, parameters, wrapped, checksum) VALUES (?1, ?2, ?3, ?4, ?5)",
            .integer(slot.id),
            .integer(slot.kind),
            .bytes(slot.parameters),
            .bytes(slot.wrapped),
            .bytes(try slot.check(in: header.identifier))
        )
    }
}
