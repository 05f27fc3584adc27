package import KeychaindDBus
package import Logging

/// The prompter of KDE Plasma, `org.kde.secretprompter`.
@BusActor
package final class KDEPrompter: Prompter {
    /// The well-known name; the bus activates the prompter.
    package static let busName = "org.kde.secretprompter"

    static let path = ObjectPath(unchecked: "/SecretPrompter")
    static let interface = "org.kde.secretprompter"

    package let name = "kde"

    /// Shared by all prompters, whose dialogs may use one connection.
    private static var dialogCount: UInt64 = 0

    private let connection: Connection
    private let environment: SessionEnvironment
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let timeout: Duration
    private let callTimeout: Duration

    /// - Parameters:
    ///   - inspector: judges the prompter process; nil trusts it.
    ///   - timeout: the time limit of a question.
    ///   - callTimeout: the time limit of the start and of calls without a person.
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

    /// Nil on other desktops, and if the prompter neither runs nor can be activated.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        guard SessionEnvironment.isKDE(await environment.variables()) else { return nil }
        return await connection.expectedTrust(inPrompter: KDEPrompter.busName, by: inspector)
    }

    /// Throws ``PromptError/Code/unavailable`` on other desktops and for questions without a password.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        guard KDEDialog.questions.contains(question) else {
            throw PromptError(.unavailable, reason: "KDE's prompter can ask only for passwords")
        }
        guard SessionEnvironment.isKDE(await environment.variables()) else {
            throw PromptError(.unavailable, reason: "the desktop is not KDE")
        }
        let peer = try await connection.findPrompter(KDEPrompter.busName, startingWithin: callTimeout)
        KDEPrompter.dialogCount += 1
        let path = ObjectPath(unchecked: "/org/keychaind/prompt/kde\(KDEPrompter.dialogCount)")
        let channel = KDEChannel(connection, to: peer, path: path)
        return KDEDialog(channel, inspector: inspector, timeout: timeout, callTimeout: callTimeout, logger: logger)
    }
}
