/// The sealed audit entries, in one table for each ring.
extension StateFile {
    /// Appends audit entries in place of those that they replace, and removes the oldest of each ring past its
    /// ``AuditRing/capacity``.
    func appendAudit(_ entries: [AuditTrail.Waiting], sealedBy key: AuditKey) throws(VaultError) {
        try requireWritable()
        var numbers: [Int64] = []
        try database.transaction { () throws(VaultError) in
            // Both rings share one sequence: it gives the order, and a row cannot be moved to the other ring.
            var number: Int64 = 0
            var insertions: [AuditRing: Statement] = [:]
            for ring in AuditRing.allCases {
                number = max(number, try database.integer("SELECT coalesce(max(id), 0) FROM \(ring.table)"))
                insertions[ring] = try database.prepare("INSERT INTO \(ring.table) (id, entry) VALUES (?1, ?2)")
            }
            for waiting in entries {
                number &+= 1
                numbers.append(number)
                if let former = waiting.place?.number(in: self) {
                    try database.execute("DELETE FROM \(waiting.ring.table) WHERE id = \(former)")
                }
                try insertions[waiting.ring]?.bind(number, at: 1)
                try insertions[waiting.ring]?.bind(try key.seal(waiting.entry, number: number), at: 2)
                try insertions[waiting.ring]?.run()
            }
            for ring in AuditRing.allCases {
                let oldest = "SELECT id FROM \(ring.table) ORDER BY id DESC LIMIT 1 OFFSET \(ring.capacity)"
                try database.execute("DELETE FROM \(ring.table) WHERE id <= (\(oldest))")
            }
        }
        for (waiting, number) in zip(entries, numbers) { waiting.place?.set(number, in: self) }
    }

    /// Calls `body` with each audit row, newest first, until it returns false.
    func forEachAudit(_ body: (_ number: Int64, _ row: UnsafeRawBufferPointer) -> Bool) throws(VaultError) {
        let selections = AuditRing.allCases.map { ring in "SELECT id, entry FROM \(ring.table)" }
        let rows = try database.prepare("\(selections.joined(separator: " UNION ALL ")) ORDER BY id DESC")
        while try rows.step() {
            guard body(rows.integer(at: 0), rows.bytes(at: 1)) else { return }
        }
    }
}

extension AuditRing {
    fileprivate var table: String {
        switch self {
        case .attended: "audit"
        case .unattended: "unattended"
        }
    }
}
