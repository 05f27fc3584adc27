import CKeychaindDBus

@BusActor
package final class ObjectServer {
    /// Finds the object at the path of a call; throws the error for the caller if there is none.
    package typealias Resolver = @BusActor (MethodCall) throws(BusError) -> any ObjectTarget
    package typealias Dispatcher = @BusActor (MethodCall) throws(BusError) -> Dispatch

    private unowned let connection: Connection
    private let peer: @BusActor (String) -> any Peer
    private let dispatch: Dispatcher
    private let takesDescriptors: Bool
    /// Of its own: no program takes the places of the portal.
    let descriptors: ReceivedDescriptors

    package private(set) var callCount: UInt64 = 0
    private(set) var waitingCalls = 0

    /// Called at every 1,024th call, and at calls with more than 1 MiB of arguments that suspend, fail or begin with a
    /// list.
    package var afterMuchWork: (@BusActor () -> Void)?

    /// The paths that accept descriptors even if ``takesDescriptors`` is false.
    package var pathsWithDescriptors: Set<String> = []

    private static let largeCall = 1 << 20

    /// - Parameters:
    ///   - limit: the most pending calls of one peer; more fail with `LimitsExceeded`.
    ///   - byteLimit: the most bytes of arguments they may have.
    package convenience init(
        on connection: Connection,
        limit: Int,
        byteLimit: Int = 32 << 20,
        resolve: @escaping Resolver
    ) {
        let peers = PeerTable { BasicPeer($0, WaitingCalls(limit: limit, byteLimit: byteLimit)) }
        self.init(connection) {
            peers[$0]
        } dispatch: { (call) throws(BusError) in
            try resolve(call).dispatch(call)
        }
    }

    /// - Parameters:
    ///   - takesDescriptors: whether arguments may contain descriptors, as for an object of a single peer.
    ///   - peer: finds or creates the peer of a unique name.
    ///   - dispatch: dispatches a call without boxing its target, which a resolver does at every call.
    package init(
        _ connection: Connection,
        takesDescriptors: Bool = false,
        peer: @escaping @BusActor (String) -> any Peer,
        dispatch: @escaping Dispatcher
    ) {
        self.connection = connection
        self.takesDescriptors = takesDescriptors
        descriptors = ReceivedDescriptors(perSender: takesDescriptors ? nil : 8)
        self.peer = peer
        self.dispatch = dispatch
    }

    func findPeer(_ name: String) -> any Peer { peer(name) }

    func receive(_ message: Message) {
        receive(message, of: peer(message.sender))
    }

    func receive(_ message: Message, of peer: any Peer) {
        guard !message.isForPeerInterface else { return receivePeerCall(message, of: peer) }
        callCount &+= 1
        if callCount % 1024 == 0 { afterMuchWork?() }
        let call = MethodCall(message, of: peer, on: connection)
        do throws(BusError) {
            // They stay open while the call is pending, and the process has a limited number.
            guard mayTakeDescriptors(of: message) else {
                throw BusError(.invalidArguments, "this object takes no descriptors")
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

    /// Whether a call has no descriptors, or its object takes some.
    func mayTakeDescriptors(of message: Message) -> Bool {
        !message.hasDescriptors || takesDescriptors || pathsWithDescriptors.contains(message.path ?? "")
    }

    /// Answers a call that had no room among the waiting ones.
    func refuse(_ serial: UInt32, of peer: any Peer) {
        refuse(serial, of: peer, "too many bytes of calls are waiting, most of them yours")
    }

    /// Answers a call that is not handled for want of something else.
    func refuse(_ message: Message, _ reason: String) {
        guard message.wantsReply else { return }
        refuse(message.serial, of: peer(message.sender), reason)
    }

    private func refuse(_ serial: UInt32, of peer: any Peer, _ reason: String) {
        let error = BusError(.limitsExceeded, reason)
        connection.answer(serial, of: peer, failing: error.name) { String(error.sentMessage).write(to: &$0) }
    }

    /// Answers a call that every process answers at every path, as libdbus would: it takes part in the order of calls.
    private func receivePeerCall(_ message: Message, of peer: any Peer) {
        let call = MethodCall(message, of: peer, on: connection)
        message.wipeByteArrays()
        switch call.member {
        case "Ping": call.reply()
        case "GetMachineId":
            guard let identifier = BusMachine.identifier else {
                return call.fail(BusError(.failed, "the machine has no identifier"))
            }
            call.reply(with: identifier)
        default: call.fail(BusError(.unknownMethod, "\(StandardInterface.peer) has no method \(call.member)"))
        }
    }

    /// Measures the arguments of a call, and reports a large one.
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
        try call.peer.beginWaiting(of: size)
        waitingCalls += 1
        call.peer.start {
            do throws(BusError) {
                try await body()
                call.finish()
            } catch {
                call.fail(error)
            }
            call.peer.endWaiting(of: size)
            self.waitingCalls -= 1
        }
    }
}

/// The machine that the process runs on.
private enum BusMachine {
    /// Its number, as libdbus tells it; nil if there is none.
    static let identifier: String? = {
        guard let text = dbus_try_get_local_machine_id(nil) else { return nil }
        defer { dbus_free(text) }
        return String(cString: text)
    }()
}
