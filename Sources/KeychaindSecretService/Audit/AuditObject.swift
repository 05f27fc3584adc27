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
                    try await object.read(call, withRules: false)
                },
                Method(
                    suspending: "ReadWithRules",
                    in: [Parameter("since", UInt64.self), Parameter("limit", UInt32.self)],
                    out: [Parameter("entries", signature: "a" + AuditEntry.signatureWithRule)]
                ) { (object, call) async throws(BusError) in
                    try await object.read(call, withRules: true)
                },
                Method(
                    suspending: "Follow",
                    out: [Parameter("entries", signature: "a" + AuditEntry.signatureWithRule)]
                ) { (object, call) async throws(BusError) in
                    try await object.follow(call)
                },
            ]
        )
    ])

    /// Sends the newest entries first; one reply at a time, as each may have some megabytes.
    @BusActor
    private func read(_ call: MethodCall, withRules: Bool) async throws(BusError) {
        let (since, limit) = try call.arguments(UInt64.self, UInt32.self)
        try await checkUser(call.client)
        let count = limit == 0 ? AuditObject.limit : min(Int(limit), AuditObject.limit)
        try await largeAnswers.make(for: call.client) { () async throws(BusError) in
            let since = Timestamp(microsecondsSinceEpoch: Int64(clamping: since))
            let entries = try await translatingErrors { () async throws(VaultError) in
                try await vault.auditEntries(since: since, limit: count)
            }
            try call.client.checkUnconfined()
            call.reply { writer in
                writer.writeArray(of: withRules ? AuditEntry.signatureWithRule : AuditEntry.signature) { writer in
                    for entry in entries {
                        entry.write(to: &writer, withRule: withRules)
                    }
                }
            }
        }
    }

    /// Sends the events since the last call of the client, oldest first, once there are some.
    @BusActor
    private func follow(_ call: MethodCall) async throws(BusError) {
        try await checkUser(call.client)
        try call.client.checkConnected()
        let entries = try await audit.followers.entries(for: call.client.name)
        try call.client.checkUnconfined()
        call.reply { writer in
            writer.writeArray(of: AuditEntry.signatureWithRule) { writer in
                for entry in entries { entry.write(to: &writer, withRule: true) }
            }
        }
    }

    @BusActor
    private func checkUser(_ client: Client) async throws(BusError) {
        try await client.checkUser(orRefuse: "only its owner may read the audit log")
    }

    /// Maximum number of entries in a reply: all that are kept.
    private static let limit = AuditEntry.maximumCount
}

extension AuditEntry {
    /// The D-Bus structure: time in microseconds since 1970, kind, caller, evidence, item, policy, outcome.
    static let signature = "(tssssss)"

    /// The same, and the rule that decided.
    static let signatureWithRule = "(tsssssss)"

    func write(to writer: inout Writer, withRule: Bool) {
        let caller = AuditedCaller(packed: caller)
        writer.writeStructure { writer in
            time.microseconds.write(to: &writer)
            kind.name.write(to: &writer)
            for text in [caller.text, caller.evidence, item, policy, outcome] + (withRule ? [rule] : []) {
                text.write(to: &writer)
            }
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
        case .ruleChange: "rule-change"
        }
    }
}
