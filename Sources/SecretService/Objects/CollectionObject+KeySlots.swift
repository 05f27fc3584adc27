import Authentication
import DBus
import KeychainModel
import Vault

/// The ways to open a keychain, for a person to see and to change.
extension CollectionObject {
    @BusActor static let keySlotsInterface = Interface<CollectionObject>(
        InterfaceName.keySlots,
        methods: [
            Method("List", out: [Parameter("slots", signature: "a" + KeySlotInfo.signature)]) {
                (object, call) throws(BusError) in
                let slots = object.collection.keySlots
                call.reply { writer in
                    writer.writeArray(of: KeySlotInfo.signature) { writer in
                        for slot in slots { slot.write(to: &writer) }
                    }
                }
            },
            adding("AddPassword") { .addPassword(label: $0) },
            adding("AddRecoveryKey") { .addRecoveryKey(label: $0) },
            adding("AddHost") { .addHost(label: $0) },
            Method(
                suspending: "MakeRecoveryKey",
                in: [Parameter("session", ObjectPath.self), Parameter("label", String.self)],
                out: [Parameter("key", signature: EncodedSecret.signature)]
            ) { (object, call) async throws(BusError) in
                try await object.makeRecoveryKey(call)
            },
            Method("Remove", in: [Parameter("number", UInt64.self)], out: [Parameter("prompt", ObjectPath.self)]) {
                (object, call) throws(BusError) in
                let number = try call.arguments(UInt64.self)
                call.reply(with: try object.remove(Int64(clamping: number)))
            },
        ]
    )

    /// A method that takes a label for a new slot, and makes the prompt that adds it.
    @BusActor
    private static func adding(
        _ name: String,
        _ change: @escaping (String) -> KeySlotPrompt.Change
    ) -> Method<CollectionObject> {
        Method(name, in: [Parameter("label", String.self)], out: [Parameter("prompt", ObjectPath.self)]) {
            (object, call) throws(BusError) in
            let label = try checked(try call.arguments(String.self))
            call.reply(with: try object.prompt(for: change(label)))
        }
    }

    private static func checked(_ label: String) throws(BusError) -> String {
        guard label.utf8.count <= Collection.keySlotLabelBytes else {
            throw BusError(.limitsExceeded, "a label has at most \(Collection.keySlotLabelBytes) bytes")
        }
        return label
    }

    /// Makes a prompt that changes slots, if there can be any.
    @BusActor
    private func prompt(for change: KeySlotPrompt.Change) throws(BusError) -> ObjectPath {
        try checkKeySlots()
        if case .addHost = change {
            try translatingErrors { () throws(VaultError) in try provider.host.check() }
        }
        return try provider.makePrompt(
            KeySlotPrompt(change, of: collection, provider: provider),
            for: caller
        )
    }

    @BusActor
    private func checkKeySlots() throws(BusError) {
        if case .unreadable(let reason) = collection.state { throw BusError(.isLocked, reason) }
        guard !collection.isEphemeral, !collection.isVacant else {
            throw BusError(.notSupported, "'\(collection.label)' has no password")
        }
    }

    /// Answers with a new recovery key in the form of a session, once a person has opened the keychain; the call waits for that.
    @BusActor
    private func makeRecoveryKey(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let session = try provider.readSession(&reader, of: caller)
        let label = try Self.checked(try String(from: &reader))
        try checkKeySlots()
        let conversation = provider.makeConversation(for: caller)
        provider.conversations.insert(conversation)
        defer { provider.conversations.end(conversation) }
        guard let key = await provider.askKey(of: collection, for: .recoveryKey, asking: conversation) else {
            throw BusError(.accessDenied, "nobody has opened the keychain")
        }
        // Nobody would have the key that was made for a caller who left meanwhile.
        guard !conversation.isEnded, provider.isPresent(caller) else {
            throw BusError(.noReply, "the caller has left the bus")
        }
        let text: Secret
        do throws(VaultError) {
            let recoveryKey = try await collection.addRecoveryKey(label: label, openedBy: key)
            text = Secret(bytes: try recoveryKey.grouped(), contentType: "text/plain")
        } catch {
            throw BusError(error)
        }
        try session.encode(text).answer(call)
    }

    @BusActor
    private func remove(_ number: Int64) throws(BusError) -> ObjectPath {
        try checkKeySlots()
        try translatingErrors { () throws(VaultError) in try collection.checkRemoval(ofKeySlot: number) }
        let slot = collection.keySlots.first { slot in slot.number == number }
        return try prompt(for: .remove(number, name: slot?.nameForPeople ?? ""))
    }
}
