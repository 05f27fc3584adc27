import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// The interface `KeySlots1`: lists, adds and removes the ways to open a keychain.
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
            adding("AddLogin") { .addLogin(label: $0) },
            Method(
                "AddSecurityKey",
                in: [Parameter("label", String.self), Parameter("pin", Bool.self)],
                out: [Parameter("prompt", ObjectPath.self)]
            ) { (object, call) throws(BusError) in
                let (label, needsPIN) = try call.arguments(String.self, Bool.self)
                let change = KeySlotPrompt.Change.addSecurityKey(label: try checked(label), needsPIN: needsPIN)
                call.reply(with: try object.prompt(for: change))
            },
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

    /// A method that returns the prompt for a new key slot with a label.
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

    /// Creates a prompt; throws if the collection cannot have key slots.
    @BusActor
    private func prompt(for change: KeySlotPrompt.Change) throws(BusError) -> ObjectPath {
        try checkKeySlots()
        switch change {
        case .addHost: try translatingErrors { () throws(VaultError) in try provider.unlocker.host.check() }
        case .addLogin: try checkLogin()
        case .changePassword, .addPassword, .addRecoveryKey, .addSecurityKey, .remove: break
        }
        return try client.makePrompt(KeySlotPrompt(change, of: collection, unlocker: provider.unlocker))
    }

    /// Throws if no login keychain can open this one.
    @BusActor
    private func checkLogin() throws(BusError) {
        guard collection.name != .login else {
            throw BusError(.notSupported, "'\(collection.label)' is the login keychain")
        }
        guard let login = provider.vault.collection(named: .login), !login.isVacant else {
            throw BusError(.notSupported, "there is no login keychain")
        }
        if case .unreadable(let reason) = login.state { throw BusError(.isLocked, reason) }
    }

    @BusActor
    private func checkKeySlots() throws(BusError) {
        if case .unreadable(let reason) = collection.state { throw BusError(.isLocked, reason) }
        guard !collection.isEphemeral, !collection.isVacant else {
            throw BusError(.notSupported, "'\(collection.label)' has no password")
        }
    }

    /// Returns a new recovery key, encoded for a session, once a person has opened the keychain.
    @BusActor
    private func makeRecoveryKey(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let session = try client.sessions.read(&reader)
        let label = try Self.checked(try String(from: &reader))
        try checkKeySlots()
        try await client.asking { (conversation) async throws(BusError) in
            let key = await provider.passwords.askKey(
                of: collection,
                for: .recoveryKey,
                asking: conversation,
                for: client
            )
            guard let key else { throw BusError(.accessDenied, "nobody entered the password of the keychain") }
            // A disconnected client would not receive the recovery key.
            guard !conversation.isEnded, client.isConnected else {
                throw BusError(.noReply, "the caller has left the bus")
            }
            let text: Secret
            do throws(VaultError) {
                let recoveryKey = try await collection.addRecoveryKey(label: label, openedBy: key)
                text = Secret(bytes: try recoveryKey.grouped(), contentType: "text/plain")
            } catch {
                throw BusError(error)
            }
            // A person may have limited the program meanwhile.
            try client.checkUnconfined()
            try session.encode(text).answer(call)
        }
    }

    @BusActor
    private func remove(_ number: Int64) throws(BusError) -> ObjectPath {
        try checkKeySlots()
        try translatingErrors { () throws(VaultError) in try collection.checkRemoval(ofKeySlot: number) }
        let slot = collection.keySlots.first { slot in slot.number == number }
        return try prompt(for: .remove(number, name: slot?.nameForPeople ?? .empty))
    }
}

extension KeySlotInfo {
    /// The D-Bus structure: number, kind, creation time in seconds since 1970 (0 if unknown), label.
    static let signature = "(tsts)"

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            UInt64(clamping: number).write(to: &writer)
            kind.busName.write(to: &writer)
            (made?.seconds ?? 0).write(to: &writer)
            label.write(to: &writer)
        }
    }

    var nameForPeople: Text {
        let name =
            switch kind {
            case .password: Text("a password")
            case .recoveryKey: Text("a recovery key")
            case .host: Text("this computer")
            case .securityKey: Text("a security key")
            case .login: Text("the login keychain")
            case .unknown: Text("something unknown")
            }
        return label.isEmpty ? name : Text("\(name) (“\(PromptText.name(label))”)")
    }
}

extension KeySlotInfo.Kind {
    /// The D-Bus name of the kind.
    var busName: String {
        switch self {
        case .password: "password"
        case .recoveryKey: "recovery-key"
        case .host: "host"
        case .securityKey: "security-key"
        case .login: "login"
        case .unknown: "unknown"
        }
    }
}
