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
    /// The text of the rule that decided; empty for none.
    package let rule: String

    package init(
        time: UInt64,
        kind: String,
        caller: String,
        evidence: String,
        item: String,
        policy: String = "",
        outcome: String,
        rule: String = ""
    ) {
        self.time = time
        self.kind = kind
        self.caller = caller
        self.evidence = evidence
        self.item = item
        self.policy = policy
        self.outcome = outcome
        self.rule = rule
    }

    fileprivate init(from reader: inout Reader) throws(BusError) {
        time = try UInt64(from: &reader)
        kind = try String(from: &reader)
        caller = try String(from: &reader)
        evidence = try String(from: &reader)
        item = try String(from: &reader)
        policy = try String(from: &reader)
        outcome = try String(from: &reader)
        rule = try String(from: &reader)
    }
}

extension SecretClient {
    /// The newest entries first; `org.keychaind.Audit1`, an interface of keychaind alone.
    ///
    /// - Parameters:
    ///   - since: the earliest time, in microseconds since 1970.
    ///   - limit: the maximum number; 0 for all.
    package func audit(since: UInt64, limit: UInt32) async throws(SecretServiceError) -> [AuditRecord] {
        try SecretClient.records(in: try await call(ProviderInterface.audit.call("ReadWithRules", since, limit)))
    }

    /// The events since the last call of this client, oldest first; waits until there is one.
    ///
    /// The first call, also the first to another provider, begins to follow and returns no entries.
    package func followAudit() async throws(SecretServiceError) -> [AuditRecord] {
        let message = ProviderInterface.audit.call("Follow")
        let reply = try await onLink { (link) throws(SecretServiceError) in
            try await link.call(message, timeout: SecretClient.longWait)
        }
        return try SecretClient.records(in: reply)
    }

    /// Nothing for a person to notice; libdbus has no longer time limit than 24 days.
    private static let longWait = Duration.seconds(7 * 86400)

    private static func records(in reply: Message) throws(SecretServiceError) -> [AuditRecord] {
        try reply.readingStructures { (reader) throws(BusError) in try AuditRecord(from: &reader) }
    }
}
