package import DBus
package import Logging

/// Knows who is behind the connections of a bus: looks into each once, and forgets it when it leaves.
@BusActor
package final class CallerDirectory {
    /// Looks into a process; called on threads of its own, where it may block.
    package typealias Inspection = @Sendable (ConnectionCredentials) -> Caller.Insight

    private enum Entry {
        case looking([CheckedContinuation<Caller, Never>])
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
    ///   - inspection: in tests, what stands for looking into a process.
    ///   - isSame: in tests, what tells whether a process is still the one that was looked into.
    ///   - patience: how long looking may take; a process in a file system of its own making could make it take for ever.
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

    /// Who is behind a connection.
    ///
    /// Waits for the bus and for looking into the process, for a bounded time; what cannot be found out makes the caller opaque.
    package func caller(_ uniqueName: String) async -> Caller {
        switch entries[uniqueName] {
        case .known(let caller):
            return checked(caller)
        case .looking(let waiting):
            return await withCheckedContinuation { entries[uniqueName] = .looking(waiting + [$0]) }
        case nil:
            guard entries.count < CallerDirectory.limit else {
                return .opaque(uniqueName, reason: "there are too many callers to look into")
            }
            // Before anything that may suspend, such as the call itself.
            entries[uniqueName] = .looking([])
            return await look(uniqueName)
        }
    }

    /// A process id is given to another process after its end, and the connection may have been left to a child.
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
        guard case .looking(let waiting) = entries[caller.uniqueName] else { return caller }
        entries[caller.uniqueName] = isKept ? .known(caller) : nil
        for continuation in waiting {
            continuation.resume(returning: caller)
        }
        return caller
    }

    private func followLeaving() {
        guard subscription == nil else { return }
        subscription = connection.onNameVanished { [weak self] name in self?.forget(name) }
    }

    private func forget(_ uniqueName: String) {
        guard case .looking(let waiting) = entries.removeValue(forKey: uniqueName) else { return }
        for continuation in waiting {
            continuation.resume(returning: .opaque(uniqueName, reason: "it has left the bus"))
        }
    }

    /// How many callers are known at a time.
    private static let limit = 4096
    /// How many processes are looked into at a time.
    private static let threadLimit = 8
}
