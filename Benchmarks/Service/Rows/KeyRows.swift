import KeychaindDBus

extension Suite {
    /// Adds the cost of a signature by a key that stays in the service, compared with reading a secret.
    func addKeyRows(_ client: SecretClient, to report: inout Report) throws {
        let key = try client.generateKey()
        let times = try Interleaving.calls.compare(
            { try client.bus.timedCall(client.getSecret(0, in: client.plain)).duration },
            { try client.bus.timedCall(client.sign(with: key)).duration }
        )
        report.add(Row("Sign, P-256", times, to: "GetSecret", .none), isPeer: isPeer)
    }
}

extension SecretClient {
    fileprivate func generateKey() throws -> ObjectPath {
        let message = Message.call(to: SecretName.bus, collection, "org.keychaind.Keys1", "GenerateKey")
        message.append([String: Variant](), ["application-label"], "ec", UInt32(256), [String: Variant]())
        return try bus.call(message).read(ObjectPath.self, ByteArray.self, ObjectPath.self).0
    }

    fileprivate func sign(with key: ObjectPath) -> Message {
        let message = Message.call(to: SecretName.bus, key, "org.keychaind.Key1", "Sign")
        message.append("algid:sign:ECDSA:message-X962:SHA256", ByteArray(Array("message".utf8)))
        return message
    }
}
