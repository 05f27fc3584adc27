import DBus
import Glibc
import KeychainModel
import Vault

/// The audit on the bus, for its owner to read.
struct AuditObject {
    let provider: Provider

    @BusActor static let kind = ObjectKind<AuditObject>([
        Interface(
            InterfaceName.audit,
            methods: [
                Method(
                    suspending: "Read",
                    in: [Parameter("since", UInt64.self), Parameter("limit", UInt32.self)],
                    out: [Parameter("entries", signature: "a" + AuditEntry.signature)]
                ) { (object, call) async throws(BusError) in
                    try await object.read(call)
                }
            ]
        )
    ])

    /// Answers the newest entries, newest first, one answer at a time: it may be of some megabytes.
    @BusActor
    private func read(_ call: MethodCall) async throws(BusError) {
        let (since, limit) = try call.arguments(UInt64.self, UInt32.self)
        // The session bus lets nobody else in; should another bus be configured otherwise, this does not.
        guard await provider.userID(of: call.sender) == getuid() else {
            throw BusError(.accessDenied, "the audit is for its owner")
        }
        let count = limit == 0 ? AuditObject.limit : min(Int(limit), AuditObject.limit)
        try await provider.largeAnswers.make(for: call.sender) { () async throws(BusError) in
            let since = Timestamp(microsecondsSinceEpoch: Int64(clamping: since))
            let written = try await translatingErrors { () async throws(VaultError) in
                try await provider.vault.auditEntries(since: since, limit: count)
            }
            let entries = AuditObject.merge(written, with: provider.audit.counted.filter { $0.time >= since })
            call.reply { writer in
                writer.writeArray(of: AuditEntry.signature) { writer in
                    for entry in entries.prefix(count) {
                        entry.write(to: &writer)
                    }
                }
            }
        }
    }

    /// Puts what is being counted, the oldest of which is first, among what was written, the newest of which is first.
    private static func merge(_ written: [AuditEntry], with counted: [AuditEntry]) -> [AuditEntry] {
        var counted = counted[...]
        var entries: [AuditEntry] = []
        for entry in written {
            while let last = counted.last, last.time >= entry.time {
                entries.append(last)
                counted.removeLast()
            }
            entries.append(entry)
        }
        return entries + counted.reversed()
    }

    /// The most entries that are answered at once: as many as are kept.
    private static let limit = AuditEntry.maximumCount
}
