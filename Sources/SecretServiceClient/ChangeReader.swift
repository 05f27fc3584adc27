import KeychaindDBus

/// Turns the provider's signals into changes while the client has subscribers.
@BusActor
final class ChangeReader {
    /// Returns nil after the end of the client.
    typealias ClientSource = @BusActor () -> SecretClient?

    private struct Listener {
        weak let buffer: ChangeBuffer?
        let client: ClientSource
    }

    private var listeners: [Listener] = []
    private var subscriptions: [SubscriptionID] = []

    nonisolated init() {}

    /// A call that makes the client known to the provider.
    ///
    /// While a program in a sandbox is on the bus, keychaind tells changes only to programs that have called it.
    nonisolated static func introduction() -> Message {
        return ProviderInterface.service.call("ReadAlias", "default")
    }

    func add(_ buffer: ChangeBuffer, owner: String?, on connection: Connection, client: @escaping ClientSource) {
        listeners.append(Listener(buffer: buffer, client: client))
        if subscriptions.isEmpty, let owner {
            subscribe(to: owner, on: connection)
        }
    }

    func follow(_ owner: String?, on connection: Connection) {
        unsubscribe(on: connection)
        guard let owner else { return }
        if !listeners.isEmpty {
            subscribe(to: owner, on: connection)
            let message = ChangeReader.introduction()
            message.setDestination(owner)
            message.expectNoReply()
            connection.send(message)
            notify(on: connection) { _ in .providerChanged }
        }
    }

    func finish() {
        for listener in listeners {
            listener.buffer?.finish()
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
        notify(on: connection) { ChangeReader.change(member, path, $0) }
    }

    private func notify(on connection: Connection, _ change: (SecretClient) -> SecretChange?) {
        listeners.removeAll { $0.buffer?.isFinished ?? true }
        for listener in listeners {
            if let client = listener.client(), let change = change(client) {
                listener.buffer?.add(change)
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
