import CKeychaindSQLite

extension Database {
    /// Throws unless the schema consists of exactly these tables.
    func check(tables: [String]) throws(VaultError) {
        let rows = try prepare("SELECT sql FROM sqlite_schema ORDER BY name")
        var found: [String] = []
        while try rows.step() {
            found.append(rows.text(at: 0))
            guard found.count <= tables.count else { break }
        }
        guard found == tables else {
            throw VaultError(.unreadable, reason: "the tables of the file do not match its format")
        }
    }

    /// The first finding of SQLite's quick check; nil for a sound file.
    func structuralDamage() throws(VaultError) -> String? {
        let finding = try text("PRAGMA quick_check(1)")
        guard finding != "ok" else { return nil }
        // The check reports a page that could not be read like a damaged one, with the code of the failure.
        try Self.checkThatFileWasRead(finding)
        return finding
    }

    /// The findings of SQLite's full check.
    func integrityFindings(atMost limit: Int) throws(VaultError) -> [String] {
        let rows = try prepare("PRAGMA integrity_check(\(limit))")
        var findings: [String] = []
        while try rows.step() {
            let finding = rows.text(at: 0)
            if finding == "ok" { continue }
            try Self.checkThatFileWasRead(finding)
            findings.append(finding)
        }
        return findings
    }

    private static func checkThatFileWasRead(_ finding: String) throws(VaultError) {
        if let code = resultCode(in: finding), ![SQLITE_OK, SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff) {
            throw VaultError(.storageFailed, reason: "could not check the file: \(finding)")
        }
    }

    private static func resultCode(in finding: String) -> CInt? {
        let words = finding.split { character in !character.isLetter && !character.isNumber }
        guard let place = words.lastIndex(of: "code"), place + 1 < words.count else { return nil }
        return CInt(words[place + 1])
    }
}
