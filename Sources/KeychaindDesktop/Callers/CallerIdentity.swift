package import KeychaindDBus
import KeychaindLanguage
package import Logging

/// The caller behind one connection, inspected once.
@BusActor
package final class CallerIdentity {
    private enum State {
        case unknown
        case inspecting(Promise<Caller>)
        case known(Caller)
        case gone
    }

    private let name: String
    private let inspector: CallerInspector
    private var state = State.unknown

    /// - Parameter name: the unique name of the connection.
    package init(of name: String, by inspector: CallerInspector) {
        self.name = name
        self.inspector = inspector
    }

    /// The caller; opaque if it cannot be inspected, or not in time.
    package func caller() async -> Caller {
        switch state {
        case .known(let caller):
            return check(caller)
        case .inspecting(let promise):
            return await promise.value()
        case .gone:
            return hasLeft
        case .unknown:
            let promise = Promise<Caller>()
            // Before any suspension, so that a second call waits for it.
            state = .inspecting(promise)
            let (caller, isFinal) = await inspector.inspect(name)
            promise.fulfill(caller)
            if case .inspecting = state { state = isFinal ? .known(caller) : .unknown }
            return caller
        }
    }

    /// The caller, if it is already known; does not wait.
    package var known: Caller? {
        guard case .known(let caller) = state else { return nil }
        return check(caller)
    }

    private func check(_ caller: Caller) -> Caller {
        let (checked, isFinal) = inspector.checked(caller)
        if isFinal { state = .known(checked) }
        return checked
    }

    /// Ends an inspection, as the connection has left the bus; a known caller stays known.
    package func leave() {
        switch state {
        case .known, .gone: return
        case .unknown: break
        case .inspecting(let promise): promise.fulfill(hasLeft)
        }
        state = .gone
    }

    private var hasLeft: Caller { .opaque(name, reason: Text("it has left the bus")) }
}

/// Inspects the processes behind connections.
@BusActor
package final class CallerInspector {
    /// Inspects a process; called on a thread of its own, where it may block.
    package typealias Inspection = @Sendable (ConnectionCredentials) throws(ExaminationObstacle) -> Caller.Insight

    /// Whether a process is still the inspected one; does not block.
    package typealias Check = @Sendable (CallerProcess) throws(ExaminationObstacle) -> Bool

    private let connection: Connection
    private let inspection: Inspection
    private let isSame: Check
    private let threads: BlockingCalls
    private let logger: Logger

    /// The number of concurrent inspections.
    private static let threadLimit = 8

    /// - Parameters:
    ///   - inspection: replaced in tests.
    ///   - isSame: replaced in tests.
    ///   - patience: the time limit of an inspection, which a process in a file system of its own could block for ever.
    package init(
        connection: Connection,
        inspection: @escaping Inspection = ProcessInspector().inspect,
        isSame: @escaping Check = ProcessInspector().isSame,
        patience: Duration = .seconds(2),
        logger: Logger
    ) {
        self.connection = connection
        self.inspection = inspection
        self.isSame = isSame
        // Each call of a program that blocks its inspection begins another one.
        threads = BlockingCalls(limit: CallerInspector.threadLimit, patience: patience, mostForOne: 2)
        self.logger = logger
    }

    /// Inspects a connection within bounded time; a later inspection may find more if the result is not final.
    fileprivate func inspect(_ name: String) async -> (caller: Caller, isFinal: Bool) {
        let credentials: ConnectionCredentials
        do throws(BusError) {
            credentials = try await connection.credentials(of: name)
        } catch {
            logger.debug("A caller is not known to the bus", metadata: ["caller": "\(name)", "reason": "\(error)"])
            return (.opaque(name, reason: Text("the bus does not know it any more")), false)
        }
        let culprit = credentials.processID.map { id in "\(id)" }
        let found = await threads.run(for: culprit) { [inspection] in
            Result { () throws(ExaminationObstacle) in try inspection(credentials) }
        }
        let userID = credentials.userID
        switch found {
        case .success(let insight):
            return (Caller(uniqueName: name, userID: userID, insight: insight), true)
        case .failure:
            let id = credentials.processID ?? 0
            return (.opaque(name, userID: userID, reason: Text("process \(id) has ended or cannot be seen")), false)
        case nil:
            return (.opaque(name, userID: userID, reason: Text("looking into it takes too long")), false)
        }
    }

    /// The caller, opaque if its process has ended: process ids are reused, and a child may have inherited the
    /// connection.
    ///
    /// A later check may find it again if the result is not final.
    fileprivate func checked(_ caller: Caller) -> (caller: Caller, isFinal: Bool) {
        guard let process = caller.process else { return (caller, true) }
        let (name, userID) = (caller.uniqueName, caller.userID)
        do throws(ExaminationObstacle) {
            guard try !isSame(process) else { return (caller, true) }
            let reason = Text("process \(process.id), which has connected, has ended")
            return (.opaque(name, userID: userID, reason: reason), true)
        } catch {
            let reason = Text("process \(process.id) has ended or cannot be seen")
            return (.opaque(name, userID: userID, reason: reason), false)
        }
    }
}
