package import DBus
package import Logging

/// The callers of a bus: inspects each connection once, and forgets it when it leaves.
@BusActor
package final class CallerDirectory {
    /// Inspects a process; called on a thread of its own, where it may block.
    package typealias Inspection = @Sendable (ConnectionCredentials) -> Caller.Insight

    private enum Entry {
        case looking(Promise<Caller>)
        case known(Caller)
    }

    private let connection: Connection
    private let inspection: Inspection
    private let isSame: @Sendable (CallerProcess) -> Bool
    private let threads: BlockingCalls
    private let logger: Logger
    private var entries: [String: Entry] = [:]
    private var subscription: SubscriptionID?

    /// - Parameters:
    ///   - inspection: replaced in tests.
    ///   - isSame: whether a process is still the inspected one; replaced in tests.
    ///   - patience: the time limit of an inspection, which a process in a file system of its own could block for ever.
    package init(
        connection: Connection,
        inspection: @escaping Inspection = ProcessInspector().inspect,
        isSame: @escaping @Sendable (CallerProcess) -> Bool = ProcessInspector().isSame,
        patience: Duration = .seconds(2),
        logger: Logger
    ) {
        self.connection = connection
        self.inspection = inspection
        self.isSame = isSame
        threads = BlockingCalls(limit: CallerDirectory.threadLimit, patience: patience)
        self.logger = logger
    }

    /// The caller behind a connection.
    ///
    /// Waits for the bus and the inspection for a bounded time; a caller that cannot be inspected is opaque.
    package func caller(_ uniqueName: String) async -> Caller {
        switch entries[uniqueName] {
        case .known(let caller):
            return checked(caller)
        case .looking(let promise):
            return await promise.value()
        case nil:
            guard entries.count < CallerDirectory.limit else {
                return .opaque(uniqueName, reason: "there are too many callers to look into")
            }
            // Before any suspension, so that a second call finds it.
            entries[uniqueName] = .looking(Promise())
            return await look(uniqueName)
        }
    }

    /// Process ids are reused, and a child may have inherited the connection.
    private func checked(_ caller: Caller) -> Caller {
        guard let process = caller.process, !isSame(process) else { return caller }
        let ended = Caller.opaque(
            caller.uniqueName,
            userID: caller.userID,
            reason: "process \(process.id), which has connected, has ended"
        )
        entries[caller.uniqueName] = .known(ended)
        return ended
    }

    // MARK: Looking

    private func look(_ uniqueName: String) async -> Caller {
        followLeaving()
        let credentials: ConnectionCredentials
        do throws(BusError) {
            credentials = try await connection.credentials(of: uniqueName)
        } catch {
            logger.debug(
                "A caller is not known to the bus",
                metadata: ["caller": "\(uniqueName)", "reason": "\(error)"]
            )
            return finish(.opaque(uniqueName, reason: "the bus does not know it any more"), isKept: false)
        }
        guard let insight = await threads.run({ [inspection] in inspection(credentials) }) else {
            return finish(
                .opaque(uniqueName, userID: credentials.userID, reason: "looking into it takes too long"),
                isKept: false
            )
        }
        return finish(Caller(uniqueName: uniqueName, userID: credentials.userID, insight: insight), isKept: true)
    }

    private func finish(_ caller: Caller, isKept: Bool) -> Caller {
        // Without an entry the caller has left meanwhile, and its name never comes again.
        guard case .looking(let promise) = entries[caller.uniqueName] else { return caller }
        entries[caller.uniqueName] = isKept ? .known(caller) : nil
        promise.fulfill(caller)
        return caller
    }

    private func followLeaving() {
        guard subscription == nil else { return }
        subscription = connection.onNameVanished { [weak self] name in self?.forget(name) }
    }

    private func forget(_ uniqueName: String) {
        guard case .looking(let promise) = entries.removeValue(forKey: uniqueName) else { return }
        promise.fulfill(.opaque(uniqueName, reason: "it has left the bus"))
    }

    /// The number of callers known at a time.
    private static let limit = 4096
    /// The number of concurrent inspections.
    private static let threadLimit = 8
}
