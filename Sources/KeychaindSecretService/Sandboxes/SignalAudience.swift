import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The programs that get a signal: all, or while a confined program is on the bus those that have called the service
/// and see the object.
@BusActor
final class SignalAudience {
    /// The object that a signal is about.
    enum Subject {
        /// The service as a whole; confined programs get no signals about it.
        case service
        case collection(Collection)
        case item(ItemID, Collection)
    }

    /// Sends a signal, to one connection or as a broadcast.
    typealias Signal = @BusActor (_ destination: String?) -> Void

    private let clients: PeerTable<Client>
    private let connections: BusConnections
    /// Signals for connections that are still being looked at, by name.
    private var held: [String: [Signal]] = [:]

    /// Whether a client may have signals that wait for its `Completed`.
    private var mayBeDeferred = false

    /// The most signals that are kept for a connection.
    private static let mostHeld = 256

    init(clients: PeerTable<Client>, connections: BusConnections) {
        self.clients = clients
        self.connections = connections
        connections.onOutside = { [weak self] name in
            for signal in self?.held.removeValue(forKey: name) ?? [] { signal(name) }
        }
        connections.onVanished = { [weak self] name in self?.held[name] = nil }
    }

    /// - Parameter confined: sends the signal to a confined client that sees the object, instead of the one for all.
    func send(_ signal: @escaping Signal, about subject: Subject, confined: Client.Signal? = nil) {
        guard !connections.allowBroadcasts else {
            sendDeferredSignals()
            return signal(nil)
        }
        mayBeDeferred = true
        for client in clients.all {
            switch connections.knownView(of: client.name) {
            case .everything: client.deliver { signal($0.name) }
            case .own(let own):
                guard sees(own, subject) else { continue }
                client.deliver(confined ?? { signal($0.name) })
            case .undecided, .nothing, nil: break
            }
        }
        for name in connections.looking where held[name, default: []].count < SignalAudience.mostHeld {
            held[name, default: []].append(signal)
        }
    }

    /// Sends the deferred signals before a broadcast, which must not overtake them.
    private func sendDeferredSignals() {
        guard mayBeDeferred else { return }
        mayBeDeferred = false
        for client in clients.all { client.sendDeferredSignals() }
    }

    /// The messages that a signal takes, at most.
    var messagesPerSignal: Int { connections.allowBroadcasts ? 1 : clients.count }

    /// The confined clients that see an item, for a signal after its deletion.
    func witnesses(of id: ItemID, in collection: Collection) -> [Client] {
        guard !connections.allowBroadcasts else { return [] }
        return clients.all.filter { $0.view.isConfined && $0.sees(id, in: collection) }
    }

    private func sees(_ view: SandboxView, _ subject: Subject) -> Bool {
        switch subject {
        case .service: false
        case .collection(let collection): view.sees(collection)
        case .item(let id, let collection): view.sees(id, in: collection)
        }
    }
}
