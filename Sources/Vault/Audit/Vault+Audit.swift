package import KeychainModel

extension Vault {
    /// Keeps an entry of the audit.
    ///
    /// It returns at once and never fails: the entry is written in the next pause, within a second, and lost if the process ends
    /// before. Until login has been unlocked entries wait in memory, a bounded number of them.
    ///
    /// - Parameter ring: which others it may push out.
    package func audit(_ entry: AuditEntry, in ring: AuditRing) {
        guard let context, context.audit.add(entry, in: ring) else { return }
        context.clerk.post { folder in folder.writeAuditIfLong() }
    }

    /// The entries of the audit, of all rings, the newest first.
    ///
    /// Throws `locked` until login has been unlocked since the process started: the entries are sealed under a key of its own. Those of
    /// a login that was deleted cannot be read.
    ///
    /// - Parameters:
    ///   - since: the earliest time; nil for all.
    ///   - limit: the most entries.
    package func auditEntries(
        since: Timestamp? = nil,
        limit: Int = AuditEntry.maximumCount
    ) async throws(VaultError) -> [AuditEntry] {
        guard let context else { throw Collection.closed }
        guard context.audit.key != nil else {
            throw VaultError(.locked, reason: "the audit cannot be read before login is unlocked")
        }
        return try await context.clerk.perform { (folder) throws(VaultError) in
            try folder.auditEntries(since: since, limit: limit)
        }
    }
}
