/// Answers the calls that arrive on a connection.
@BusActor
package final class ObjectServer {
    /// Finds what is at the path of a call; throws what the caller is to be told if there is nothing.
    package typealias Resolver = @BusActor (MethodCall) throws(BusError) -> any ObjectTarget
    /// Finds it, and has it answer the call.
    package typealias Dispatcher = @BusActor (MethodCall) throws(BusError) -> Dispatch

    private unowned let connection: Connection
    private let dispatch: Dispatcher
    private let limit: Int
    private let byteLimit: Int
    private let takesDescriptors: Bool
    private var waiting: [String: Waiting] = [:]

    /// What of one caller waits.
    private struct Waiting {
        var calls = 0
        var bytes = 0
    }

    /// How many calls have arrived.
    package private(set) var callCount: UInt64 = 0

    /// Called at every 1,024th call, and at those with more than 1 MiB of arguments that wait, fail, or begin with a list.
    package var afterMuchWork: (@BusActor () -> Void)?

    /// The paths of the objects whose calls may have descriptors among their arguments, where others may not.
    package var pathsWithDescriptors: Set<String> = []

    private static let largeCall = 1 << 20

    /// - Parameters:
    ///   - limit: how many calls of one caller may wait at a time; more are answered with `LimitsExceeded`.
    ///   - byteLimit: how many bytes of arguments they may have together: past 63 MiB of them libdbus reads nothing more, of nobody.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    package convenience init(
        on connection: Connection,
        limit: Int,
        byteLimit: Int = 32 << 20,
        takesDescriptors: Bool = false,
        resolve: @escaping Resolver
    ) {
        self.init(connection, limit: limit, byteLimit: byteLimit, takesDescriptors: takesDescriptors) {
            (call) throws(BusError) in
            try resolve(call).dispatch(call)
        }
    }

    /// - Parameters:
    ///   - limit: how many calls of one caller may wait at a time; more are answered with `LimitsExceeded`.
    ///   - byteLimit: how many bytes of arguments they may have together.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    ///   - dispatch: answers a call itself: what a resolver finds is put into a box first, at every call.
    package init(
        _ connection: Connection,
        limit: Int,
        byteLimit: Int = 32 << 20,
        takesDescriptors: Bool = false,
        dispatch: @escaping Dispatcher
    ) {
        self.connection = connection
        self.limit = limit
        self.byteLimit = byteLimit
        self.takesDescriptors = takesDescriptors
        self.dispatch = dispatch
    }

    func receive(_ message: Message) {
        callCount &+= 1
        if callCount % 1024 == 0 { afterMuchWork?() }
        let call = MethodCall(message, on: connection)
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

    /// Whether calls of a caller wait; no longer once it was forgotten.
    package func hasWaitingCalls(of caller: String) -> Bool {
        waiting[caller] != nil
    }

    /// Takes note that a caller has left the bus.
    package func forget(_ caller: String) {
        waiting[caller] = nil
    }

    private func run(
        _ body: @escaping @BusActor () async throws(BusError) -> Void,
        answering call: MethodCall
    ) throws(BusError) {
        let size = noteSize(of: call.message)
        var own = waiting[call.sender] ?? Waiting()
        guard own.calls < limit else {
            throw BusError(.limitsExceeded, "\(limit) of your calls are already waiting")
        }
        guard own.bytes + size <= byteLimit else {
            throw BusError(.limitsExceeded, "calls with \(byteLimit) bytes of arguments may wait, and no more")
        }
        own.calls += 1
        own.bytes += size
        waiting[call.sender] = own
        BusActor.start { [self] in
            do throws(BusError) {
                try await body()
                call.finish()
            } catch {
                call.fail(error)
            }
            end(call.sender, size)
        }
    }

    /// Takes note that a call waits no longer.
    private func end(_ caller: String, _ size: Int) {
        // None is left of a caller that was forgotten.
        guard var own = waiting[caller] else { return }
        own.calls -= 1
        own.bytes -= size
        waiting[caller] = own.calls == 0 ? nil : own
    }
}
