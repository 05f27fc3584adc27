import DBus
import KeychainModel
import Vault

extension AuditEntry {
    /// As an entry is sent: time in microseconds since the epoch, kind, caller, evidence, item, policy, outcome.
    static let signature = "(tssssss)"

    /// Appends the structure.
    func write(to writer: inout Writer) {
        let caller = AuditedCaller(packed: caller)
        writer.writeStructure { writer in
            UInt64(clamping: time.microsecondsSinceEpoch).write(to: &writer)
            kind.name.write(to: &writer)
            for text in [caller.text, caller.evidence, item, policy, outcome] {
                text.write(to: &writer)
            }
        }
    }
}

extension AuditEntry.Kind {
    /// The kind's name on the bus.
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
        }
    }
}
