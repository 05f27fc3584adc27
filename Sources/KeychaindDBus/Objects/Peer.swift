/// A connection that calls this process.
@BusActor
package protocol Peer: AnyObject {
    /// The unique name, such as `:1.42`.
    nonisolated var name: String { get }

    /// Whose turns it takes: those of its program, or its own as long as that is not known.
    var turnOwner: AnyObject { get }

    var unsent: UnsentAnswers { get }

    /// Counts a call that waits, with the size of its arguments; throws `LimitsExceeded` past the quota.
    func beginWaiting(of size: Int) throws(BusError)

    func endWaiting(of size: Int)

    /// Starts the task of a call that waits.
    func start(_ body: @escaping @BusActor () async -> Void)

    /// Called when the connection reads all properties of an object, as programs with a cache of them do.
    func didReadAllProperties()

    /// Ends everything that is kept for the connection, which has left the bus; called once.
    func leave()
}

extension Peer {
    package var turnOwner: AnyObject { self }

    package func start(_ body: @escaping @BusActor () async -> Void) { BusActor.start(body) }

    package func didReadAllProperties() {}
}

/// The calls of one connection or program that wait, within its quota.
package struct WaitingCalls: Sendable {
    private let limit: Int
    private let byteLimit: Int
    private var count = 0
    private var bytes = 0

    /// - Parameters:
    ///   - limit: the most calls that wait; another one is answered with `LimitsExceeded`.
    ///   - byteLimit: the most bytes of their arguments: past 63 MiB of them, libdbus reads nothing more from anybody.
    package init(limit: Int, byteLimit: Int = 32 << 20) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    package mutating func begin(of size: Int) throws(BusError) {
        guard count < limit else { throw BusError(.limitsExceeded, "\(limit) of your calls are already waiting") }
        guard bytes + size <= byteLimit else {
            throw BusError(.limitsExceeded, "calls with \(byteLimit) bytes of arguments may wait, and no more")
        }
        count += 1
        bytes += size
    }

    package mutating func end(of size: Int) {
        count -= 1
        bytes -= size
    }

    /// Counts calls that wait already, also past the quota.
    package mutating func add(_ other: WaitingCalls) {
        count += other.count
        bytes += other.bytes
    }
}

/// A peer for which nothing but its waiting calls is kept.
package final class BasicPeer: Peer {
    package nonisolated let name: String
    private var waitingCalls: WaitingCalls
    package let unsent = UnsentAnswers()

    package init(_ name: String, _ waitingCalls: WaitingCalls) {
        self.name = name
        self.waitingCalls = waitingCalls
    }

    package func beginWaiting(of size: Int) throws(BusError) { try waitingCalls.begin(of: size) }

    package func endWaiting(of size: Int) { waitingCalls.end(of: size) }

    package func leave() {}
}

@BusActor
package final class PeerTable<P: Peer> {
    private let make: @BusActor (String) -> P
    private var peers: [String: P] = [:]

    package nonisolated init(_ make: @escaping @BusActor (String) -> P) {
        self.make = make
    }

    /// The peer of a name, created at its first call.
    package subscript(_ name: String) -> P {
        if let peer = peers[name] { return peer }
        let peer = make(name)
        peers[name] = peer
        return peer
    }

    package var all: [P] { Array(peers.values) }

    package var count: Int { peers.count }

    package func remove(_ name: String) {
        peers.removeValue(forKey: name)?.leave()
    }
}
