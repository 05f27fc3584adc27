import CKeychaindDBus
import Glibc
import KeychaindDBus

/// Calls of one kind, of which a program keeps many in flight.
struct Flood {
    enum Kind: String, CaseIterable {
        case ping
        case getAll
        case searchEverything
        case getSecrets
        case longSearch
        case allSecrets
        case unlockAll

        var name: String {
            switch self {
            case .ping: "Ping"
            case .getAll: "Item GetAll"
            case .searchEverything: "SearchItems of everything"
            case .getSecrets: "GetSecrets of 100"
            case .longSearch: "search with \(Flood.attributeCount) attributes"
            case .allSecrets: "GetSecrets of all"
            case .unlockAll: "Unlock of all"
            }
        }

        /// The calls in flight: one of those about all items.
        var depth: Int {
            switch self {
            case .ping, .getAll, .searchEverything, .getSecrets, .longSearch: 1024
            case .allSecrets, .unlockAll: 1
            }
        }
    }

    enum Target: String {
        case provider
        /// The floor service, which answers the same calls with as many bytes: what the bus costs.
        case floor
    }

    static let busName = "org.keychaind.Flood"

    fileprivate static let attributeCount = 4000

    let kind: Kind
    let target: Target

    init(_ kind: Kind, at target: Target) {
        self.kind = kind
        self.target = target
    }

    /// Reads the arguments of a flooding program; nil if they are invalid.
    init?(_ kind: String, _ target: String) {
        guard let kind = Kind(rawValue: kind), let target = Target(rawValue: target) else { return nil }
        self.init(kind, at: target)
    }

    // MARK: In the flooding program

    /// Keeps calls in flight until the process is ended; owns its name once each of the first ones is answered.
    func run() throws {
        guard let address = getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }) else {
            throw BenchmarkError(reason: "there is no bus to flood")
        }
        let client = try SecretClient(BusClient(address))
        try client.findItems()
        let size = target == .floor ? try client.bus.call(call(client)).argumentSize : 0
        let flooding = target == .floor ? floorCall(client, answering: size) : call(client)
        try client.bus.flood(depth: kind.depth, owning: Flood.busName, with: flooding)
    }

    private func call(_ client: SecretClient) -> Message {
        switch kind {
        case .ping: Message.call(to: SecretName.bus, .root, "org.freedesktop.DBus.Peer", "Ping")
        case .getAll: client.getAll(0)
        case .searchEverything: client.searchItems(SampleItem.common)
        case .getSecrets: client.getSecrets(0..<min(100, client.items.count))
        case .longSearch: client.searchItems(longQuery)
        case .allSecrets: client.getSecrets(0..<client.items.count)
        case .unlockAll: client.unlock(client.items)
        }
    }

    /// A call with the same arguments to the floor service.
    private func floorCall(_ client: SecretClient, answering size: Int) -> Message {
        let path = ObjectPath(unchecked: "\(FloorService.path)/\(size)")
        let message = Message.call(to: FloorService.busName, path, FloorService.interface, "Echo")
        switch kind {
        case .ping: break
        case .getAll: message.append(SecretName.item)
        case .searchEverything: message.append(SampleItem.common)
        case .getSecrets: message.append(Array(client.items.prefix(100)), client.plain.path)
        case .longSearch: message.append(longQuery)
        case .allSecrets: message.append(client.items, client.plain.path)
        case .unlockAll: message.append(client.items)
        }
        return message
    }

    private var longQuery: [String: String] {
        Dictionary(uniqueKeysWithValues: (0..<Flood.attributeCount).map { ("a\($0)", "v\($0)") })
    }

    // MARK: In the measuring program

    /// Starts the flooding program, and waits until calls are in flight.
    func start(on stage: Stage) throws -> ChildProcess {
        let process = try stage.start("/proc/self/exe", ["--flood", kind.rawValue, target.rawValue], input: "")
        try stage.client.waitForOwner(of: Flood.busName)
        return process
    }
}
