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
                    deciding: "Confirm",
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
    private func confirm(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        let program = try String(from: &reader)
        try check(program)
        guard let paths = try provider.unlocking.readFewObjects(&reader) else {
            return .suspending { () async throws(BusError) in try await confirmMany(call, for: program) }
        }
        var items: [(collection: Collection, id: ItemID)] = []
        for path in paths { items.append(try find(path, for: program)) }
        call.reply(with: try client.makePrompt(ConfirmSandboxPrompt(program, items, provider: provider)))
        return .answered
    }

    /// Answers a Confirm of many items, while other calls are handled.
    @BusActor
    private func confirmMany(_ call: MethodCall, for program: String) async throws(BusError) {
        try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
            var slice = provider.largeAnswers.beginSlice()
            let limit = provider.limits.objectsPerCall
            let paths = try await PathList(of: call.message, after: 1, limit: limit, &slice)
            var items: [(collection: Collection, id: ItemID)] = []
            for number in 0..<paths.count {
                await slice.yieldIfOver()
                try client.checkConnected()
                items.append(try find(paths[number], for: program))
            }
            try client.checkUnconfined()
            call.reply(with: try client.makePrompt(ConfirmSandboxPrompt(program, items, provider: provider)))
        }
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
