import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The programs that get a signal: all, or while items are hidden from a program on the bus those that have called the
/// service and see the object.
@BusActor
final class SignalAudience {
    /// The object that a signal is about.
    enum Subject {
        /// The service as a whole; confined programs get no signals about it.
        case service
        /// All items of a collection; for programs that see all items.
        case allItems
        case collection(Collection)
        case item(ItemID, Collection)

        /// Whether the signal names items.
        var isAboutItems: Bool {
            switch self {
            case .service, .collection: false
            case .allItems, .item: true
            }
        }
    }

    /// Sends a signal, to one connection or as a broadcast.
    typealias Signal = @BusActor (_ destination: String?) -> Void

    private let clients: PeerTable<Client>
    private let connections: BusConnections
    private let rules: ItemRules
    /// Signals for connections that are still being looked at, by name.
    private var held: [String: [(signal: Signal, isAboutItems: Bool)]] = [:]

    /// Whether a client may have signals that wait for its `Completed`.
    private var mayBeDeferred = false

    /// The most signals that are kept for a connection.
    private static let mostHeld = 256

    init(clients: PeerTable<Client>, connections: BusConnections, rules: ItemRules) {
        self.clients = clients
        self.connections = connections
        self.rules = rules
        connections.onOutside = { [weak self] name in
            // A rule may have hidden items since.
            for held in self?.held.removeValue(forKey: name) ?? [] where !(held.isAboutItems && rules.hidesItems) {
                held.signal(name)
            }
        }
        connections.onVanished = { [weak self] name in self?.held[name] = nil }
    }

    /// Whether every program on the bus may get a signal.
    private var allowsBroadcasts: Bool { connections.allowBroadcasts && !rules.hidesItems }

    /// - Parameter confined: sends another signal to a client that sees the object, but not all items.
    func send(_ signal: @escaping Signal, about subject: Subject, confined: Client.Signal? = nil) {
        guard !allowsBroadcasts else {
            sendDeferredSignals()
            return signal(nil)
        }
        mayBeDeferred = true
        for client in clients.all {
            switch connections.knownView(of: client.name) {
            case .everything where !rules.hidesItems(from: client): client.deliver { signal($0.name) }
            case .everything:
                guard sees(client, subject) else { continue }
                client.deliver(confined ?? { signal($0.name) })
            case .own(let own):
                guard sees(own, subject), sees(client, subject) else { continue }
                client.deliver(confined ?? { signal($0.name) })
            case .undecided, .nothing, nil: break
            }
        }
        // Which items rules hide from the others is not known.
        guard !rules.hidesItems || !subject.isAboutItems else { return }
        for name in connections.looking where held[name, default: []].count < SignalAudience.mostHeld {
            held[name, default: []].append((signal, subject.isAboutItems))
        }
    }

    /// Sends the deferred signals before a broadcast, which must not overtake them.
    private func sendDeferredSignals() {
        guard mayBeDeferred else { return }
        mayBeDeferred = false
        for client in clients.all { client.sendDeferredSignals() }
    }

    /// The messages that a signal takes, at most.
    var messagesPerSignal: Int { allowsBroadcasts ? 1 : clients.count }

    /// The clients that see an item but not all, for a signal after its deletion.
    func witnesses(of id: ItemID, in collection: Collection) -> [Client] {
        guard !allowsBroadcasts else { return [] }
        return clients.all.filter { !$0.seesAllItems && $0.sees(id, in: collection) }
    }

    /// Whether rules let a client see an object.
    private func sees(_ client: Client, _ subject: Subject) -> Bool {
        switch subject {
        case .service, .collection: true
        case .allItems: false
        case .item(let id, let collection): !rules.hides(id, in: collection, from: client)
        }
    }

    private func sees(_ view: SandboxView, _ subject: Subject) -> Bool {
        switch subject {
        case .service, .allItems: false
        case .collection(let collection): view.sees(collection)
        case .item(let id, let collection): view.sees(id, in: collection)
        }
    }
}
