/// Answers the calls that arrive on a connection.
@BusActor
package final class ObjectServer {
    /// Finds what is at the path of a call; throws what the caller is to be told if there is nothing.
    package typealias Resolver = @BusActor (MethodCall) throws(BusError) -> any ObjectTarget

    private unowned let connection: Connection
    private let resolve: Resolver
    private let limit: Int
    private let takesDescriptors: Bool
    private var waiting: [String: Int] = [:]

    /// - Parameters:
    ///   - limit: how many calls of one caller may wait at a time; more are answered with `LimitsExceeded`.
    ///   - takesDescriptors: whether calls may have descriptors among their arguments.
    package init(on connection: Connection, limit: Int, takesDescriptors: Bool = false, resolve: @escaping Resolver) {
        self.connection = connection
        self.limit = limit
        self.takesDescriptors = takesDescriptors
        self.resolve = resolve
    }

    func receive(_ message: Message) {
        let call = MethodCall(message, on: connection)
        do throws(BusError) {
            // They would stay open for as long as the call waits, and the process may have only so many.
            guard takesDescriptors || !message.hasDescriptors else {
                throw BusError(.invalidArguments, "nothing here takes a descriptor")
            }
            switch try resolve(call).dispatch(call) {
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
            throw BusError(.limitsExceeded, "\(limit) calls of yours are waiting already")
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
