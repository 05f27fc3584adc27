package import KeychainModel

extension Vault {
    /// Records an audit entry.
    ///
    /// Returns at once and never fails. The entry is written within a second; the end of the process before that loses
    /// it. A bounded number of entries waits in memory for the first unlock of `login`.
    ///
    /// - Parameter ring: the ring of the entry.
    package func audit(_ entry: AuditEntry, in ring: AuditRing) {
        guard let context, context.audit.add(entry, in: ring) else { return }
        context.clerk.post { folder in folder.writeAuditIfLong() }
    }

    /// Returns the audit entries of all rings, newest first.
    ///
    /// Throws `locked` before the first unlock of `login`, whose key seals the entries. Entries of a deleted `login`
    /// cannot be read.
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
            throw VaultError(.locked, reason: "the audit cannot be read before the login keychain is unlocked")
        }
        return try await context.clerk.perform { (folder) throws(VaultError) in
            try folder.auditEntries(since: since, limit: limit)
        }
    }
}
