/// The table of records: values by name, for data that has no table of its own.
extension StateFile {
    /// The value of a record; nil if there is no such record.
    func value(ofRecord name: String) throws(VaultError) -> [UInt8]? {
        let row = try database.prepare("SELECT value FROM record WHERE name = ?1")
        try row.bind(name, at: 1)
        return try row.step() ? Array(row.bytes(at: 0)) : nil
    }

    /// Calls `body` with each record whose name begins with a prefix.
    ///
    /// - Parameters:
    ///   - prefix: a constant without wildcards.
    ///   - limit: the most records to read.
    ///   - order: what SQL orders them by: the last ones are left out beyond the limit.
    ///   - body: gets the whole name, and the value, which is valid during the call.
    func forEachRecord(
        withPrefix prefix: String,
        limit: Int,
        orderedBy order: String = "name",
        _ body: (_ name: String, _ value: UnsafeRawBufferPointer) -> Void
    ) throws(VaultError) {
        let rows = try database.prepare(
            "SELECT name, value FROM record WHERE name GLOB '\(prefix)*' ORDER BY \(order) LIMIT \(limit)"
        )
        while try rows.step() { body(rows.text(at: 0), rows.bytes(at: 1)) }
    }

    /// Sets a record in the open transaction, or in one of its own.
    func setValue(_ value: [UInt8], ofRecord name: String) throws(VaultError) {
        try requireWritable()
        try database.change(
            "INSERT OR REPLACE INTO record (name, value) VALUES (?1, ?2)",
            .text(name),
            .bytes(value)
        )
    }

    /// Removes a record in the open transaction, or in one of its own.
    func removeRecord(_ name: String) throws(VaultError) {
        try requireWritable()
        try database.change("DELETE FROM record WHERE name = ?1", .text(name))
    }

    /// The name of the record of a collection, as SQLite's `hex` writes the identifier.
    static func recordName(_ prefix: String, of identifier: [UInt8]) -> String {
        prefix + identifier.hexadecimal(uppercase: true)
    }
}
