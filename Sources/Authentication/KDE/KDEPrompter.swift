package import DBus
package import Logging

/// The prompter of KDE Plasma, `org.kde.secretprompter`.
@BusActor
package final class KDEPrompter: Prompter {
    /// The well-known name; the bus starts the prompter when it is needed.
    package static let busName = "org.kde.secretprompter"

    static let path = ObjectPath(unchecked: "/SecretPrompter")
    static let interface = "org.kde.secretprompter"

    /// What it is called in logs.
    package let name = "kde"

    /// All prompters together: their dialogs may have one connection.
    private static var dialogCount: UInt64 = 0

    private let connection: Connection
    private let environment: SessionEnvironment
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let timeout: Duration
    private let callTimeout: Duration

    /// Creates a prompter that calls, and is called back, over a connection.
    ///
    /// - Parameters:
    ///   - inspector: decides how far to trust it; nil to trust it.
    ///   - timeout: how long a question may wait for its answer.
    ///   - callTimeout: how long the prompter may take to start, and to answer a call, which needs no person.
    package init(
        connection: Connection,
        environment: SessionEnvironment,
        inspector: (any PrompterInspector)? = nil,
        logger: Logger,
        timeout: Duration = .seconds(300),
        callTimeout: Duration = .seconds(25)
    ) {
        self.connection = connection
        self.environment = environment
        self.inspector = inspector
        self.logger = logger
        self.timeout = timeout
        self.callTimeout = callTimeout
    }

    /// Whether the desktop is KDE's, and the prompter is on the bus or can be started by it.
    package func isAvailable(for requester: any Requester) async -> Bool {
        guard SessionEnvironment.isKDE(await environment.variables()) else { return false }
        return await connection.hasService(KDEPrompter.busName)
    }

    /// Finds the prompter, and starts it if it does not run.
    ///
    /// Throws ``PromptError/Code/unavailable`` on a desktop that is not KDE's, and for questions that are not for a
    /// password.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        guard KDEDialog.questions.contains(question) else {
            throw PromptError(.unavailable, reason: "KDE's prompter asks for passwords only")
        }
        guard SessionEnvironment.isKDE(await environment.variables()) else {
            throw PromptError(.unavailable, reason: "the desktop is not KDE's")
        }
        let peer = try await findPrompter()
        KDEPrompter.dialogCount += 1
        let path = ObjectPath(unchecked: "/org/keychaind/prompt/kde\(KDEPrompter.dialogCount)")
        let channel = KDEChannel(connection, to: peer, path: path)
        return KDEDialog(channel, inspector: inspector, timeout: timeout, callTimeout: callTimeout, logger: logger)
    }

    /// The unique name of the prompter, which is the one that may call back.
    private func findPrompter() async throws(PromptError) -> String {
        do throws(BusError) {
            if let owner = try await connection.owner(of: KDEPrompter.busName) { return owner }
            try await connection.startService(KDEPrompter.busName, timeout: callTimeout)
            if let owner = try await connection.owner(of: KDEPrompter.busName) { return owner }
        } catch {
            throw PromptError(.unavailable, reason: "\(KDEPrompter.busName) cannot be reached: \(error)")
        }
        throw PromptError(.unavailable, reason: "\(KDEPrompter.busName) ends as soon as it is started")
    }
}
