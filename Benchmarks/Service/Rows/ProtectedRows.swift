import Glibc
import KeychaindDBus

extension Suite {
    /// Adds the cost of reading a granted protected item, compared with an unprotected one.
    ///
    /// It must come last: afterwards the collection has a protected item, which every search checks.
    func addProtectedRows(_ client: SecretClient, to report: inout Report) throws {
        let item = try client.createProtectedItem()
        try client.unlock(item)
        let times = try Interleaving.calls.compare(
            { try client.bus.timedCall(client.getSecret(0, in: client.plain)).duration },
            { try client.bus.timedCall(client.getSecret(of: item)).duration }
        )
        report.add(Row("GetSecret under a grant", times, to: "GetSecret", .atMost(1.2)), isPeer: isPeer)
    }
}

extension SecretClient {
    fileprivate func createProtectedItem() throws -> ObjectPath {
        let message = Message.call(to: SecretName.bus, collection, SecretName.collection, "CreateItem")
        message.write { writer in
            writer.writeArray(of: "{sv}") { writer in
                writer.writeProperty("\(SecretName.item).Label", "Protected")
                writer.writeProperty(
                    "\(SecretName.item).Attributes",
                    ["service": "bank", "keychain:access-control": "userPresence"]
                )
            }
            writer.writeStructure { writer in
                plain.path.write(to: &writer)
                ByteArray([]).write(to: &writer)
                ByteArray(SampleItem(number: 0).secret).write(to: &writer)
                "text/plain".write(to: &writer)
            }
            false.write(to: &writer)
        }
        return try bus.call(message).read(ObjectPath.self, ObjectPath.self).0
    }

    /// Requests a grant of five minutes; the stage's pinentry answers.
    fileprivate func unlock(_ item: ObjectPath) throws {
        let authentication = "org.keychaind.Authentication1"
        let creation = Message.call(
            to: SecretName.bus,
            ObjectPath(unchecked: "/org/keychaind/Authentication"),
            authentication,
            "CreateContext"
        )
        let context = try bus.call(creation).read(ObjectPath.self)
        let setting = Message.call(to: SecretName.bus, context, SecretName.properties, "Set")
        setting.append("\(authentication).Context", "ReuseDuration", Variant.uint32(300_000))
        _ = try bus.call(setting)
        let unlocking = Message.call(to: SecretName.bus, context, "\(authentication).Context", "Unlock")
        unlocking.append([item])
        let prompt = try bus.call(unlocking).read([ObjectPath].self, ObjectPath.self).1
        let showing = Message.call(to: SecretName.bus, prompt, "org.freedesktop.Secret.Prompt", "Prompt")
        showing.append("")
        _ = try bus.call(showing)
        _ = try Stage.waiting(for: "the grant") { try isLocked(item) ? nil : true }
    }

    private func isLocked(_ item: ObjectPath) throws -> Bool {
        let message = Message.call(to: SecretName.bus, item, SecretName.properties, "Get")
        message.append(SecretName.item, "Locked")
        if case .boolean(true) = try bus.call(message).read(Variant.self) { return true }
        return false
    }

    fileprivate func getSecret(of item: ObjectPath) -> Message {
        let message = Message.call(to: SecretName.bus, item, SecretName.item, "GetSecret")
        message.append(plain.path)
        return message
    }
}
