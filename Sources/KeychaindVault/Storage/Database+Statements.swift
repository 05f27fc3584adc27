extension Database {
    func execute(_ sql: String) throws(VaultError) {
        try connection.execute(sql)
    }

    func prepare(_ sql: String) throws(VaultError) -> Statement {
        try connection.prepare(sql)
    }

    func run(_ sql: String, _ values: Statement.Value...) throws(VaultError) {
        try run(sql, binding: values)
    }

    /// Runs a change in the open transaction, or in one of its own.
    func change(_ sql: String, _ values: Statement.Value...) throws(VaultError) {
        if connection.isInTransaction {
            try run(sql, binding: values)
        } else {
            try transaction { () throws(VaultError) in try run(sql, binding: values) }
        }
    }

    private func run(_ sql: String, binding values: [Statement.Value]) throws(VaultError) {
        let statement = try prepare(sql)
        for (index, value) in values.enumerated() { try statement.bind(value, at: CInt(index + 1)) }
        try statement.run()
    }

    var changedRows: Int { connection.changedRows }

    func integer(_ sql: String) throws(VaultError) -> Int64 {
        let statement = try prepare(sql)
        guard try statement.step() else { throw VaultError(.unreadable, reason: "a value is missing") }
        return statement.integer(at: 0)
    }

    func text(_ sql: String) throws(VaultError) -> String {
        let statement = try prepare(sql)
        guard try statement.step() else { throw VaultError(.unreadable, reason: "a value is missing") }
        return statement.text(at: 0)
    }

    func limitLength(to bytes: Int) {
        connection.limitLength(to: bytes)
    }

    /// Refuses longer rows than items within the limits have.
    func limitLength(toRowsWithin limits: VaultLimits) {
        limitLength(to: limits.secretBytes + limits.attributeBytes + limits.labelBytes + 1 << 20)
    }

    func releaseMemory() {
        connection.releaseMemory()
    }
}
