import DBus

/// Turns the provider's signals into changes, for as long as somebody listens.
@BusActor
final class ChangeReader {
    /// Gives the client that changes are told through; nil when it has gone.
    typealias ClientSource = @BusActor () -> SecretClient?

    private struct Listener {
        let buffer: ChangeBuffer
        let client: ClientSource
    }

    private var listeners: [Listener] = []
    private var subscriptions: [SubscriptionID] = []

    nonisolated init() {}

    /// Adds a listener.
    func add(_ buffer: ChangeBuffer, owner: String?, on connection: Connection, client: @escaping ClientSource) {
        listeners.append(Listener(buffer: buffer, client: client))
        if subscriptions.isEmpty, let owner {
            subscribe(to: owner, on: connection)
        }
    }

    /// Listens to another provider.
    func follow(_ owner: String?, on connection: Connection) {
        unsubscribe(on: connection)
        guard let owner else { return }
        if !listeners.isEmpty {
            subscribe(to: owner, on: connection)
            tell(on: connection) { _ in .providerChanged }
        }
    }

    /// Tells every listener that nothing more will come.
    func finish() {
        for listener in listeners {
            listener.buffer.finish()
        }
        listeners = []
    }

    private func subscribe(to owner: String, on connection: Connection) {
        subscriptions = [Protocol.service, Protocol.collection].map { interface in
            connection.subscribe(to: SignalMatch(sender: owner, interface: interface)) { [weak self, weak connection] in
                guard let self, let connection else { return }
                receive($0, on: connection)
            }
        }
    }

    private func unsubscribe(on connection: Connection) {
        for subscription in subscriptions {
            connection.unsubscribe(subscription)
        }
        subscriptions = []
    }

    private func receive(_ message: Message, on connection: Connection) {
        guard let member = message.member, let path = try? message.read(ObjectPath.self) else { return }
        tell(on: connection) { ChangeReader.change(member, path, $0) }
    }

    private func tell(on connection: Connection, _ change: (SecretClient) -> SecretChange?) {
        listeners.removeAll { $0.buffer.isFinished }
        for listener in listeners {
            if let client = listener.client(), let change = change(client) {
                listener.buffer.add(change)
            }
        }
        if listeners.isEmpty {
            unsubscribe(on: connection)
        }
    }

    private nonisolated static func change(
        _ member: String,
        _ path: ObjectPath,
        _ client: SecretClient
    ) -> SecretChange? {
        switch member {
        case "CollectionCreated": .collectionCreated(SecretCollection(client, path))
        case "CollectionChanged": .collectionChanged(SecretCollection(client, path))
        case "CollectionDeleted": .collectionDeleted(SecretCollection(client, path))
        case "ItemCreated": .itemCreated(SecretItem(client, path))
        case "ItemChanged": .itemChanged(SecretItem(client, path))
        case "ItemDeleted": .itemDeleted(SecretItem(client, path))
        default: nil
        }
    }
}
