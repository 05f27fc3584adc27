import KeychaindDBus
import KeychaindGcrypt

/// A client of a provider that knows the expected secrets.
final class SecretClient {
    let bus: BusClient
    /// The default collection.
    let collection: ObjectPath
    let plain: ClientSession
    let encrypted: ClientSession
    /// The object paths of the items, by number.
    private(set) var items: [ObjectPath]

    private let keyPair: DiffieHellman

    /// Opens sessions with the provider.
    ///
    /// - Parameter items: the items of an earlier client of the same provider.
    init(_ bus: BusClient, items: [ObjectPath] = []) throws {
        self.bus = bus
        self.items = items
        let keyPair = try DiffieHellman(.oakley2)
        let alias = SecretClient.service("ReadAlias")
        alias.append("default")
        collection = try bus.call(alias).read(ObjectPath.self)
        guard collection != .root else { throw BenchmarkError(reason: "there is no default collection") }
        let opening = SecretClient.service("OpenSession")
        opening.append("plain", Variant.string(""))
        plain = ClientSession(path: try bus.call(opening).read(Variant.self, ObjectPath.self).1)
        let (peer, path) = try bus.call(SecretClient.openEncryptedSession(keyPair)).read(Variant.self, ObjectPath.self)
        guard case .bytes(let key) = peer else { throw BenchmarkError(reason: "OpenSession returned no public key") }
        let secret = try key.bytes.span.withUnsafeBytes { try keyPair.sharedSecret(with: $0) }
        encrypted = ClientSession(path: path, cipher: try SessionCipher(sharedSecret: secret))
        self.keyPair = keyPair
    }

    /// Builds an encrypted OpenSession.
    ///
    /// The client's key pair is made in advance: its cost is not the provider's.
    func openEncryptedSession() -> Message {
        SecretClient.openEncryptedSession(keyPair)
    }

    /// Builds Session.Close for the session in a reply of OpenSession.
    func closeSession(openedBy reply: Message) throws -> Message {
        let path = try reply.read(Variant.self, ObjectPath.self).1
        return Message.call(to: SecretName.bus, path, SecretName.session, "Close")
    }

    /// Builds an Unlock of the default collection.
    func unlock() -> Message { unlock([collection]) }

    func unlock(_ objects: [ObjectPath]) -> Message {
        let message = SecretClient.service("Unlock")
        message.append(objects)
        return message
    }

    func createItem(_ number: Int) -> Message {
        let item = SampleItem(number: number)
        let message = Message.call(to: SecretName.bus, collection, SecretName.collection, "CreateItem")
        message.write { writer in
            writer.writeArray(of: "{sv}") { writer in
                writer.writeProperty("\(SecretName.item).Label", item.label)
                writer.writeProperty("\(SecretName.item).Attributes", item.attributes)
            }
            writer.writeStructure { writer in
                plain.path.write(to: &writer)
                ByteArray([]).write(to: &writer)
                ByteArray(item.secret).write(to: &writer)
                "text/plain".write(to: &writer)
            }
            false.write(to: &writer)
        }
        return message
    }

    func getSecret(_ number: Int, in session: ClientSession) -> Message {
        getSecret(of: items[number], in: session)
    }

    func getSecret(of item: ObjectPath, in session: ClientSession) -> Message {
        let message = Message.call(to: SecretName.bus, item, SecretName.item, "GetSecret")
        message.append(session.path)
        return message
    }

    func getSecrets(_ numbers: Range<Int>) -> Message {
        let message = SecretClient.service("GetSecrets")
        message.append(Array(items[numbers]), plain.path)
        return message
    }

    func searchItems(_ attributes: [String: String]) -> Message {
        SecretClient.searchItems(attributes)
    }

    func getAll(_ number: Int) -> Message {
        let message = Message.call(to: SecretName.bus, items[number], SecretName.properties, "GetAll")
        message.append(SecretName.item)
        return message
    }

    static func searchItems(_ attributes: [String: String]) -> Message {
        let message = service("SearchItems")
        message.append(attributes)
        return message
    }

    /// Finds the sample items that the provider has, in the order of their numbers.
    func findItems() throws {
        let (unlocked, _) = try bus.call(searchItems(SampleItem.common)).read([ObjectPath].self, [ObjectPath].self)
        items = unlocked.sorted { first, second in
            (first.rawValue.count, first.rawValue) < (second.rawValue.count, second.rawValue)
        }
        guard !items.isEmpty else { throw BenchmarkError(reason: "the provider has no sample items") }
    }

    /// Records the item in a reply of CreateItem.
    func addItem(createdBy reply: Message) throws {
        let (item, prompt) = try reply.read(ObjectPath.self, ObjectPath.self)
        guard prompt == .root else { throw BenchmarkError(reason: "CreateItem returned a prompt") }
        items.append(item)
    }

    /// Records an item that a prompt has created.
    func add(_ item: ObjectPath) {
        items.append(item)
    }

    func checkSecret(_ number: Int, in session: ClientSession, _ reply: Message) throws {
        var reader = reply.makeReader()
        guard try session.isSecret(SampleItem(number: number).secret, at: &reader) else {
            throw BenchmarkError(reason: "GetSecret returned a wrong secret for item \(number)")
        }
    }

    func checkSecrets(_ numbers: Range<Int>, _ reply: Message) throws {
        var found = 0
        var reader = reply.makeReader()
        try reader.readDictionary { [items, plain] (reader) throws(BusError) in
            let path = try ObjectPath(from: &reader)
            guard let number = items[numbers].firstIndex(of: path),
                (try? plain.isSecret(SampleItem(number: number).secret, at: &reader)) == true
            else { throw BusError(.failed, "GetSecrets returned an unrequested item") }
            found += 1
        }
        guard found == numbers.count else { throw BenchmarkError(reason: "GetSecrets returned \(found) secrets") }
    }

    func checkHit(_ number: Int, _ reply: Message) throws {
        let (unlocked, locked) = try reply.read([ObjectPath].self, [ObjectPath].self)
        guard unlocked == [items[number]], locked.isEmpty else {
            throw BenchmarkError(
                reason: "SearchItems found \(unlocked.count) unlocked, \(locked.count) locked items"
            )
        }
    }

    func checkProperties(_ number: Int, _ reply: Message) throws {
        let properties = try reply.read([String: Variant].self)
        guard properties["Attributes"] == .stringDictionary(SampleItem(number: number).attributes) else {
            throw BenchmarkError(reason: "GetAll returned wrong attributes for item \(number)")
        }
    }

    private static func service(_ member: String) -> Message {
        Message.call(to: SecretName.bus, SecretName.servicePath, SecretName.service, member)
    }

    private static func openEncryptedSession(_ keyPair: borrowing DiffieHellman) -> Message {
        let message = service("OpenSession")
        message.append(SecretName.encryptedAlgorithm, Variant.bytes(ByteArray(keyPair.publicKey)))
        return message
    }
}
