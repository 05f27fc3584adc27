import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The sandboxed programs, for programs outside of sandboxes.
struct SandboxesObject {
    let provider: Provider
    let client: Client

    @BusActor static let kind = ObjectKind<SandboxesObject>([
        Interface(
            InterfaceName.sandboxes,
            methods: [
                Method(suspending: "List", out: [Parameter("sandboxes", signature: "a(sstu)")]) {
                    (object, call) async throws(BusError) in
                    try await object.list(call)
                },
                Method(
                    suspending: "Items",
                    in: [Parameter("identity", String.self)],
                    out: [Parameter("items", [ObjectPath].self)]
                ) { (object, call) async throws(BusError) in
                    let items = try await object.items(of: try call.arguments(String.self))
                    call.reply(with: items.map { ObjectPath.item($0.id, in: $0.collection) })
                },
                Method(
                    "Confirm",
                    in: [Parameter("identity", String.self), Parameter("items", [ObjectPath].self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) throws(BusError) in
                    try object.confirm(call)
                },
            ],
            signals: [SignalDeclaration("Changed")]
        )
    ])

    @BusActor
    private func list(_ call: MethodCall) async throws(BusError) {
        let rows = try await translatingErrors { () async throws(VaultError) in try await provider.sandboxes.list() }
        try client.checkUnconfined()
        call.reply { writer in
            writer.writeArray(of: "(sstu)") { writer in
                for row in rows {
                    writer.writeStructure { writer in
                        row.program.write(to: &writer)
                        row.record.state.name.write(to: &writer)
                        (row.record.lastCall?.microseconds ?? 0).write(to: &writer)
                        UInt32(clamping: row.items).write(to: &writer)
                    }
                }
            }
        }
    }

    @BusActor
    private func items(of program: String) async throws(BusError) -> [ItemReference] {
        try check(program)
        let items = try await translatingErrors { () async throws(VaultError) in
            try await provider.sandboxes.items(of: program)
        }
        try client.checkUnconfined()
        return items
    }

    @BusActor
    private func confirm(_ call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        let program = try String(from: &reader)
        try check(program)
        var items: [(collection: Collection, id: ItemID)] = []
        for path in try provider.paths(in: call, after: 1).all { items.append(try find(path, for: program)) }
        call.reply(with: try client.makePrompt(ConfirmSandboxPrompt(program, items, provider: provider)))
    }

    /// Finds an item that a person may give to a sandboxed program; throws for that of another one.
    @BusActor
    private func find(_ path: ObjectPath, for program: String) throws(BusError) -> (collection: Collection, id: ItemID)
    {
        guard let (collection, id) = client.findItem(path, in: provider.vault) else {
            throw BusError(.noSuchObject, "there is no item \(path)")
        }
        let owner = collection.item(id)?.attributes[Attributes.program]
        guard owner == nil || owner == program else {
            throw BusError(.accessDenied, "item \(id) belongs to another sandboxed program")
        }
        return (collection, id)
    }

    private func check(_ program: String) throws(BusError) {
        guard AccessGroups.isIdentity(program) else {
            throw BusError(.invalidArguments, "'\(program)' is no identity of a sandbox")
        }
    }
}

extension SandboxRecord.State {
    /// The D-Bus name of the state.
    var name: String {
        switch self {
        case .limited: "limited"
        case .unconfirmed: "unconfirmed"
        case .open: "open"
        }
    }
}
