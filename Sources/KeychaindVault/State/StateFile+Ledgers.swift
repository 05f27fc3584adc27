/// The sealed ledgers of protected items, by the identifiers of their collections.
extension StateFile {
    /// A sealed ledger, and whether protections may be missing in it.
    struct StoredLedger {
        let sealed: [UInt8]
        let mayLackProtections: Bool
    }

    func ledger(of identifier: [UInt8]) throws(VaultError) -> StoredLedger? {
        let row = try database.prepare("SELECT ledger FROM protection WHERE collection = ?1")
        try row.bind(identifier, at: 1)
        guard try row.step() else { return nil }
        return StoredLedger(
            sealed: Array(row.bytes(at: 0)),
            mayLackProtections: try mayLackProtections(of: identifier)
        )
    }

    func setLedger(_ ledger: [UInt8], of identifier: [UInt8]) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try database.run(
                "INSERT OR REPLACE INTO protection (collection, ledger) VALUES (?1, ?2)",
                .bytes(identifier),
                .bytes(ledger)
            )
            try trustLedger(of: identifier)
        }
    }
}
