/// Answers the calls that arrive on a connection.
@BusActor
package final class ObjectServer {
    /// Finds what is at the path of a call; throws what the caller is to be told if there is nothing.
    package typealias Resolver = @BusActor (MethodCall) throws(BusError) -> any ObjectTarget
    /// Finds it, and has it answer the call.
    package typealias Dispatcher = @BusActor (MethodCall) throws(BusError) -> Dispatch

    private unowned let connection: Connection
    private let peer: @BusActor (String) -> any Peer
    private let dispatch: Dispatcher
    private let takesDescriptors: Bool

    /// How many calls have arrived.
    package private(set) var callCount: UInt64 = 0

    /// Called at every 1,024th call, and at those with more than 1 MiB of arguments that wait, fail, or begin with a list.
    package var afterMuchWork: (@BusActor () -> Void)?

    /// The paths of the objects whose calls may have descriptors among their arguments, where others may not.
    package var pathsWithDescriptors: Set<String> = []

    private static let largeCall = 1 << 20

    /// - Parameters:
    ///   - limit: how many calls of one peer may wait at a time; more are answered with `LimitsExceeded`.
    ///   - byteLimit: how many bytes of arguments they may have together.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    package convenience init(
        on connection: Connection,
        limit: Int,
        byteLimit: Int = 32 << 20,
        takesDescriptors: Bool = false,
        resolve: @escaping Resolver
    ) {
        let peers = PeerTable { BasicPeer($0, WaitingCalls(limit: limit, byteLimit: byteLimit)) }
        self.init(connection, takesDescriptors: takesDescriptors) {
            peers[$0]
        } dispatch: { (call) throws(BusError) in
            try resolve(call).dispatch(call)
        }
    }

    /// - Parameters:
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    ///   - peer: finds or creates the peer of a unique name.
    ///   - dispatch: answers a call itself; the target of a resolver would be boxed at every call.
    package init(
        _ connection: Connection,
        takesDescriptors: Bool = false,
        peer: @escaping @BusActor (String) -> any Peer,
        dispatch: @escaping Dispatcher
    ) {
        self.connection = connection
        self.takesDescriptors = takesDescriptors
        self.peer = peer
        self.dispatch = dispatch
    }

    func receive(_ message: Message) {
        callCount &+= 1
        if callCount % 1024 == 0 { afterMuchWork?() }
        let call = MethodCall(message, of: peer(message.sender), on: connection)
        do throws(BusError) {
            // They would stay open for as long as the call waits, and the process may have only so many.
            guard !message.hasDescriptors || takesDescriptors || pathsWithDescriptors.contains(message.path ?? "")
            else {
                throw BusError(.invalidArguments, "no descriptor is taken here, or not yet")
            }
            switch try dispatch(call) {
            case .answered:
                call.finish()
            case .suspending(let body):
                try run(body, answering: call)
            }
        } catch {
            noteSize(of: message)
            call.fail(error)
        }
    }

    /// Takes note of a call that may have had much memory used.
    @discardableResult
    func noteSize(of message: Message) -> Int {
        let size = message.argumentSize
        if size > ObjectServer.largeCall { afterMuchWork?() }
        return size
    }

    private func run(
        _ body: @escaping @BusActor () async throws(BusError) -> Void,
        answering call: MethodCall
    ) throws(BusError) {
        let size = noteSize(of: call.message)
        try call.peer.waitingCalls.begin(of: size)
        BusActor.start {
            do throws(BusError) {
                try await body()
                call.finish()
            } catch {
                call.fail(error)
            }
            call.peer.waitingCalls.end(of: size)
        }
    }
}
