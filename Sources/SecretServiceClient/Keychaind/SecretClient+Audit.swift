import KeychaindDBus

/// An entry of keychaind's audit.
package struct AuditRecord: Hashable, Sendable {
    /// In microseconds since 1970.
    package let time: UInt64
    package let kind: String
    package let caller: String
    package let evidence: String
    /// The path of the item or the keychain; empty for neither.
    package let item: String
    package let policy: String
    package let outcome: String

    fileprivate init(from reader: inout Reader) throws(BusError) {
        time = try UInt64(from: &reader)
        kind = try String(from: &reader)
        caller = try String(from: &reader)
        evidence = try String(from: &reader)
        item = try String(from: &reader)
        policy = try String(from: &reader)
        outcome = try String(from: &reader)
    }
}

extension SecretClient {
    /// The newest entries first; `org.keychaind.Audit1`, an interface of keychaind alone.
    ///
    /// - Parameters:
    ///   - since: the earliest time, in microseconds since 1970.
    ///   - limit: the maximum number; 0 for all.
    package func audit(since: UInt64, limit: UInt32) async throws(SecretServiceError) -> [AuditRecord] {
        let path = ObjectPath(unchecked: "/org/keychaind/Audit")
        let message = Protocol.call(path, "org.keychaind.Audit1", "Read")
        message.append(since, limit)
        let reply = try await call(message)
        var records: [AuditRecord] = []
        do throws(BusError) {
            var reader = reply.makeReader()
            try reader.readArray { (reader) throws(BusError) in
                records.append(
                    try reader.readStructure { (reader) throws(BusError) in try AuditRecord(from: &reader) }
                )
            }
        } catch {
            throw SecretServiceError(reading: error)
        }
        return records
    }
}
