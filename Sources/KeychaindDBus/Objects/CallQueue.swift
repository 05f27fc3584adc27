/// Received calls that wait to be handled, in turn between the programs that made them.
///
/// The bus delivers the calls of all programs in one queue. They are read ahead into a lane for each connection, so
/// that the call of one does not wait for a thousand of another. The calls of a connection stay in their order. The
/// connections of one program share its turns.
@BusActor
final class CallQueue {
    /// The calls of one connection.
    private final class Lane {
        let name: String
        let peer: any Peer
        var program: CallingProgram
        var entries = FirstInFirstOut<Entry>()
        var size = 0

        init(_ name: String, of peer: any Peer, _ program: CallingProgram) {
            self.name = name
            self.peer = peer
            self.program = program
        }

        /// Whether the bus has taken most answers to earlier calls.
        ///
        /// All answers leave through one socket in order: another program's would come behind them.
        @BusActor var mayBeServed: Bool { !peer.unsent.isMuch }
    }

    /// The lanes of one program's connections.
    private final class CallingProgram {
        let owner: AnyObject
        /// In turn; without those of newcomers.
        var waiting = FirstInFirstOut<Lane>()
        var lanes = 0
        var size = 0

        init(_ owner: AnyObject) {
            self.owner = owner
        }

        @BusActor
        func nextLane() -> Lane? {
            for _ in 0..<waiting.count {
                guard let lane = waiting.removeFirst() else { return nil }
                if lane.mayBeServed { return lane }
                waiting.append(lane)
            }
            return nil
        }
    }

    private enum Entry {
        case call(Message, for: ObjectServer, size: Int)
        /// A call that had no room; its error comes in its turn, so that refusals are not the fastest answers.
        case refusal(of: UInt32, from: ObjectServer)
        case action(@BusActor () -> Void)
    }

    /// What a message keeps besides its arguments.
    private static let overhead = 512
    /// How long calls are handled before further ones are read; one call may take longer.
    private static let nanosecondsOfHandling: Int64 = 200_000
    /// So much is handled before more is read, if it goes quickly: 32 small calls, or few long ones.
    private static let little = 32 * (overhead + 128)
    /// How long is read before calls are handled, and how often at least.
    private static let nanosecondsOfReading: Int64 = 4_000_000
    private static let leastReads = 64
    /// The same while more calls come than have room; the calls of others lie behind them.
    private static let nanosecondsOfRefusing: Int64 = 100_000_000

    var byteLimit: Int
    private var lanes: [String: Lane] = [:]
    private var programs: [ObjectIdentifier: CallingProgram] = [:]
    /// The lanes of newcomers, programs of which nothing waited before: each is served once before all others.
    private var fresh = FirstInFirstOut<Lane>()
    /// The programs with waiting lanes.
    private var waiting = FirstInFirstOut<CallingProgram>()
    private var size = 0
    private var reads = 0
    private var firstRead: Int64 = 0

    /// - Parameter byteLimit: the most bytes of calls that wait. Past it, calls of the program with most are refused.
    nonisolated init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    var isEmpty: Bool { lanes.isEmpty }

    /// Whether another program's call could wait for long behind these, so that it is worth looking for.
    var isSlow: Bool { tookItsTime || size > CallQueue.little }

    /// Whether the calls that were handled last took all of the time.
    private var tookItsTime = false

    // MARK: Adding

    func add(_ message: Message, for server: ObjectServer) {
        let name = message.sender
        let size = CallQueue.overhead + message.argumentSize
        let lane = lane(name, for: server)
        guard makeRoom(for: size, of: lane) else {
            if message.wantsReply { lane.entries.append(.refusal(of: message.serial, from: server)) }
            return
        }
        change(lane, by: size)
        lane.entries.append(.call(message, for: server, size: size))
    }

    /// Drops the questions of a connection that has left, and runs an action after its other calls.
    func afterCalls(
        of name: String,
        dropping isQuestion: (Message) -> Bool,
        _ action: @escaping @BusActor () -> Void
    ) {
        guard let lane = lanes[name] else { return action() }
        lane.entries.removeAll { entry in
            switch entry {
            case .call(let message, _, let size):
                guard isQuestion(message) else { return false }
                change(lane, by: -size)
                return true
            case .refusal: return true
            case .action: return false
            }
        }
        lane.entries.append(.action(action))
    }

    func removeAll() {
        lanes = [:]
        programs = [:]
        fresh = FirstInFirstOut()
        waiting = FirstInFirstOut()
        size = 0
    }

    private func lane(_ name: String, for server: ObjectServer) -> Lane {
        if let lane = lanes[name] { return lane }
        let peer = server.findPeer(name)
        let lane = Lane(name, of: peer, program(of: peer))
        lanes[name] = lane
        lane.program.lanes += 1
        if lane.program.lanes == 1 { fresh.append(lane) } else { enqueue(lane) }
        return lane
    }

    private func program(of peer: any Peer) -> CallingProgram {
        let owner = peer.turnOwner
        if let program = programs[ObjectIdentifier(owner)] { return program }
        let program = CallingProgram(owner)
        programs[ObjectIdentifier(owner)] = program
        return program
    }

    /// Lets a lane wait for a turn of its program, which may have become known since the last one.
    private func enqueue(_ lane: Lane) {
        if lane.peer.turnOwner !== lane.program.owner {
            leave(lane)
            lane.program = program(of: lane.peer)
            lane.program.lanes += 1
            lane.program.size += lane.size
        }
        if lane.program.waiting.isEmpty { waiting.append(lane.program) }
        lane.program.waiting.append(lane)
    }

    private func leave(_ lane: Lane) {
        lane.program.lanes -= 1
        lane.program.size -= lane.size
        if lane.program.lanes == 0 { programs[ObjectIdentifier(lane.program.owner)] = nil }
    }

    private func change(_ lane: Lane, by size: Int) {
        self.size += size
        lane.size += size
        lane.program.size += size
    }

    /// Refuses the last calls of the program with most bytes until a call has room; false if this program has most.
    ///
    /// Between connections of one program it is the same. A call alone has room, whatever its size.
    private func makeRoom(for size: Int, of lane: Lane) -> Bool {
        while self.size > 0, self.size + size > byteLimit,
            let program = programs.values.max(by: { $0.size < $1.size })
        {
            let isOwn = program === lane.program
            guard isOwn || program.size > lane.program.size + size,
                let largest = lanes.values.filter({ $0.program === program }).max(by: { $0.size < $1.size }),
                !isOwn || largest !== lane && largest.size > lane.size + size
            else { return false }
            refuseLast(of: largest)
        }
        return true
    }

    private func refuseLast(of lane: Lane) {
        lane.entries.replaceLast { entry in
            guard case .call(let message, let server, let size) = entry else { return nil }
            change(lane, by: -size)
            return message.wantsReply ? .refusal(of: message.serial, from: server) : .action {}
        }
    }

    // MARK: Serving

    /// Whether a call could be handled now.
    var mayServe: Bool { waiting.contains { $0.waiting.contains { $0.mayBeServed } } }

    /// Whether a program has called that had no waiting calls, beside others that have.
    var haveNewcomers: Bool { !fresh.isEmpty && programs.count > 1 }

    /// Whether more is read before the next ``serve(while:)``: a bounded number of times, so that reading never goes
    /// on without handling.
    func mayReadOn() -> Bool {
        let now = LoopClock.suspending.now
        if reads == 0 { firstRead = now }
        reads += 1
        let time = size > byteLimit / 2 ? CallQueue.nanosecondsOfRefusing : CallQueue.nanosecondsOfReading
        return reads <= CallQueue.leastReads || now < firstRead + time
    }

    /// Handles one call of each newcomer, while the condition holds.
    func serveNewcomers(while mayGoOn: () -> Bool) {
        for _ in 0..<fresh.count {
            guard let lane = fresh.removeFirst() else { return }
            if mayGoOn(), lane.mayBeServed { serve(lane) } else { enqueue(lane) }
        }
    }

    /// Handles calls in turn for a short time, while the condition holds: one of each newcomer, and at least one more.
    func serve(while mayGoOn: () -> Bool) {
        reads = 0
        let end = LoopClock.suspending.now + CallQueue.nanosecondsOfHandling
        tookItsTime = false
        serveNewcomers(while: mayGoOn)
        repeat {
            guard mayGoOn(), let lane = nextLane() else { return }
            // Stop after a refusal, so that we read again before serving others.
            if case .refusal = lane.entries.first { return serve(lane) }
            serve(lane)
        } while LoopClock.suspending.now < end
        tookItsTime = true
    }

    private func nextLane() -> Lane? {
        for _ in 0..<waiting.count {
            guard let program = waiting.removeFirst() else { return nil }
            let lane = program.nextLane()
            if !program.waiting.isEmpty { waiting.append(program) }
            if let lane { return lane }
        }
        return nil
    }

    private func serve(_ lane: Lane) {
        guard let entry = lane.entries.removeFirst() else { return remove(lane) }
        // Before the lane leaves its program with what it still has.
        if case .call(_, _, let size) = entry { change(lane, by: -size) }
        // First, as the call may close the connection, and with it this queue.
        if lane.entries.isEmpty { remove(lane) } else { enqueue(lane) }
        switch entry {
        case .call(let message, let server, _):
            server.receive(message, of: lane.peer)
        case .refusal(let serial, let server):
            server.refuse(serial, of: lane.peer)
        case .action(let action):
            action()
        }
    }

    private func remove(_ lane: Lane) {
        lanes[lane.name] = nil
        leave(lane)
    }
}

/// A queue that releases removed elements at once.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count || head > 64 && head > count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    var first: Element? { isEmpty ? nil : elements[head] }

    /// Replaces the last element for which the closure returns another.
    mutating func replaceLast(_ replacement: (Element) -> Element?) {
        for index in (head..<elements.count).reversed() {
            guard let element = elements[index], let other = replacement(element) else { continue }
            elements[index] = other
            return
        }
    }

    mutating func removeAll(where predicate: (Element) -> Bool) {
        elements = elements[head...].filter { element in element.map { !predicate($0) } ?? false }
        head = 0
    }

    func contains(where predicate: (Element) -> Bool) -> Bool {
        elements[head...].contains { element in element.map(predicate) ?? false }
    }
}
