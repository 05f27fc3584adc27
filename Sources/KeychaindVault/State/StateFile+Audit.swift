/// The sealed audit entries, in one table for each ring.
extension StateFile {
    /// Appends audit entries, and removes the oldest of each ring past its ``AuditRing/capacity``.
    ///
    /// - Parameter row: returns the sealed entry for an index and a row number.
    func appendAudit(_ rings: [AuditRing], _ row: (Int, Int64) throws(VaultError) -> [UInt8]) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            // Both rings share one sequence: it gives the order, and a row cannot be moved to the other ring.
            var number: Int64 = 0
            var insertions: [AuditRing: Statement] = [:]
            for ring in AuditRing.allCases {
                number = max(number, try database.integer("SELECT coalesce(max(id), 0) FROM \(ring.table)"))
                insertions[ring] = try database.prepare("INSERT INTO \(ring.table) (id, entry) VALUES (?1, ?2)")
            }
            for (index, ring) in rings.enumerated() {
                number &+= 1
                try insertions[ring]?.bind(number, at: 1)
                try insertions[ring]?.bind(try row(index, number), at: 2)
                try insertions[ring]?.run()
            }
            for ring in AuditRing.allCases {
                let oldest = "SELECT id FROM \(ring.table) ORDER BY id DESC LIMIT 1 OFFSET \(ring.capacity)"
                try database.execute("DELETE FROM \(ring.table) WHERE id <= (\(oldest))")
            }
        }
    }

    /// Calls `body` with each audit row, newest first, until it returns false.
    func forEachAudit(_ body: (_ number: Int64, _ row: UnsafeRawBufferPointer) -> Bool) throws(VaultError) {
        let tables = AuditRing.allCases.filter { ring in version >= ring.version }.map(\.table)
        guard !tables.isEmpty else { return }
        let selection = tables.map { table in "SELECT id, entry FROM \(table)" }.joined(separator: " UNION ALL ")
        let rows = try database.prepare("\(selection) ORDER BY id DESC")
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

    fileprivate var version: UInt32 {
        switch self {
        case .attended: 2
        case .unattended: 3
        }
    }
}
