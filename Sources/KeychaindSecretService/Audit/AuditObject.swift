import Glibc
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The audit log on the bus, readable by its owner.
struct AuditObject {
    let audit: AccessAudit
    let vault: Vault
    let largeAnswers: LargeAnswers

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
                },
                Method(
                    suspending: "Follow",
                    out: [Parameter("entries", signature: "a" + AuditEntry.followedSignature)]
                ) { (object, call) async throws(BusError) in
                    try await object.follow(call)
                },
            ]
        )
    ])

    /// Sends the newest entries first; one reply at a time, as each may have some megabytes.
    @BusActor
    private func read(_ call: MethodCall) async throws(BusError) {
        let (since, limit) = try call.arguments(UInt64.self, UInt32.self)
        try await checkOwner(call.client)
        let count = limit == 0 ? AuditObject.limit : min(Int(limit), AuditObject.limit)
        try await largeAnswers.make(for: call.client) { () async throws(BusError) in
            let since = Timestamp(microsecondsSinceEpoch: Int64(clamping: since))
            let written = try await translatingErrors { () async throws(VaultError) in
                try await vault.auditEntries(since: since, limit: count)
            }
            let entries = AuditObject.merge(written, with: audit.counted.filter { $0.time >= since })
            call.reply { writer in
                writer.writeArray(of: AuditEntry.signature) { writer in
                    for entry in entries.prefix(count) {
                        entry.write(to: &writer)
                    }
                }
            }
        }
    }

    /// Sends the events since the last call of the client, oldest first, once there are some.
    @BusActor
    private func follow(_ call: MethodCall) async throws(BusError) {
        try await checkOwner(call.client)
        try call.client.checkConnected()
        let entries = try await audit.followers.entries(for: call.client.name)
        call.reply { writer in
            writer.writeArray(of: AuditEntry.followedSignature) { writer in
                for entry in entries { entry.write(to: &writer, followed: true) }
            }
        }
    }

    @BusActor
    private func checkOwner(_ client: Client) async throws(BusError) {
        // The session bus admits no other user; another bus might.
        guard await client.userID() == getuid() else {
            throw BusError(.accessDenied, "only its owner may read the audit log")
        }
    }

    /// Merges pending counts, oldest first, into written entries, newest first.
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

    /// Maximum number of entries in a reply: all that are kept.
    private static let limit = AuditEntry.maximumCount
}

extension AuditEntry {
    /// The D-Bus structure: time in microseconds since 1970, kind, caller, evidence, item, policy, outcome.
    static let signature = "(tssssss)"

    /// The same, and the text of the rule that decided.
    static let followedSignature = "(tsssssss)"

    func write(to writer: inout Writer, followed isFollowed: Bool = false) {
        let caller = AuditedCaller(packed: caller)
        writer.writeStructure { writer in
            UInt64(clamping: time.microsecondsSinceEpoch).write(to: &writer)
            kind.name.write(to: &writer)
            for text in [caller.text, caller.evidence, item, policy, outcome] {
                text.write(to: &writer)
            }
            // No rule decides yet.
            if isFollowed { "".write(to: &writer) }
        }
    }
}

extension AuditEntry.Kind {
    /// The D-Bus name of the kind.
    var name: String {
        switch self {
        case .release: "release"
        case .denial: "denial"
        case .authentication: "authentication"
        case .authenticationToChange: "authentication-to-change"
        case .authenticationToProtect: "authentication-to-protect"
        case .authenticationToDelete: "authentication-to-delete"
        case .accessControlChange: "access-control-change"
        case .lost: "lost"
        case .change: "change"
        case .deletion: "deletion"
        case .keyUse: "key-use"
        case .portalImport: "portal-import"
        }
    }
}
