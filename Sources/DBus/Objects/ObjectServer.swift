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
    private let takesDescriptors: Bool
    private var waiting: [String: Int] = [:]

    /// How many calls have arrived.
    package private(set) var callCount: UInt64 = 0

    /// Called at every 1,024th call.
    package var afterManyCalls: (@BusActor () -> Void)?

    /// - Parameters:
    ///   - limit: how many calls of one caller may wait at a time; more are answered with `LimitsExceeded`.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    package convenience init(
        on connection: Connection,
        limit: Int,
        takesDescriptors: Bool = false,
        resolve: @escaping Resolver
    ) {
        self.init(connection, limit: limit, takesDescriptors: takesDescriptors) { (call) throws(BusError) in
            try resolve(call).dispatch(call)
        }
    }

    /// - Parameters:
    ///   - limit: how many calls of one caller may wait at a time; more are answered with `LimitsExceeded`.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    ///   - dispatch: answers a call itself: what a resolver finds is put into a box first, at every call.
    package init(
        _ connection: Connection,
        limit: Int,
        takesDescriptors: Bool = false,
        dispatch: @escaping Dispatcher
    ) {
        self.connection = connection
        self.limit = limit
        self.takesDescriptors = takesDescriptors
        self.dispatch = dispatch
    }

    func receive(_ message: Message) {
        callCount &+= 1
        if callCount % 1024 == 0 { afterManyCalls?() }
        let call = MethodCall(message, on: connection)
        do throws(BusError) {
            // They would stay open for as long as the call waits, and the process may have only so many.
            guard takesDescriptors || !message.hasDescriptors else {
                throw BusError(.invalidArguments, "nothing here takes a descriptor")
            }
            switch try dispatch(call) {
            case .answered:
                call.finish()
            case .suspending(let body):
                try run(body, answering: call)
            }
        } catch {
            call.fail(error)
        }
    }

    private func run(
        _ body: @escaping @BusActor () async throws(BusError) -> Void,
        answering call: MethodCall
    ) throws(BusError) {
        let count = waiting[call.sender, default: 0]
        guard count < limit else {
            throw BusError(.limitsExceeded, "\(limit) of your calls are already waiting")
        }
        waiting[call.sender] = count + 1
        BusActor.start { [self] in
            do throws(BusError) {
                try await body()
                call.finish()
            } catch {
                call.fail(error)
            }
            let rest = waiting[call.sender, default: 1] - 1
            waiting[call.sender] = rest == 0 ? nil : rest
        }
    }
}
