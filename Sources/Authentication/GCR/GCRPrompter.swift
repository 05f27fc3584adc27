package import DBus
import Gcrypt
package import Logging

/// The prompter of GNOME and of desktops like it, `org.gnome.keyring.SystemPrompter`.
@BusActor
package final class GCRPrompter: Prompter {
    /// The well-known name; the bus starts the prompter when it is needed.
    package nonisolated static let busName = "org.gnome.keyring.SystemPrompter"

    static let path = ObjectPath(unchecked: "/org/gnome/keyring/Prompter")
    static let interface = "org.gnome.keyring.internal.Prompter"

    /// What it is called in logs.
    package let name = "gcr"

    /// All prompters together: their dialogs may have one connection.
    private static var dialogCount: UInt64 = 0

    private let connection: Connection
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let timeout: Duration
    private let callTimeout: Duration

    /// Creates a prompter that calls, and is called back, over a connection.
    ///
    /// - Parameters:
    ///   - inspector: decides how far to trust it; nil to trust it.
    ///   - timeout: how long a question may wait for its answer, its time in the prompter's queue included.
    ///   - callTimeout: how long the prompter may take to start, and to answer a call, which needs no person.
    package init(
        connection: Connection,
        inspector: (any PrompterInspector)? = nil,
        logger: Logger,
        timeout: Duration = .seconds(300),
        callTimeout: Duration = .seconds(25)
    ) {
        self.connection = connection
        self.inspector = inspector
        self.logger = logger
        self.timeout = timeout
        self.callTimeout = callTimeout
    }

    /// Whether the prompter is on the bus, or can be started by it.
    package func isAvailable(for requester: any Requester) async -> Bool {
        await connection.hasService(GCRPrompter.busName)
    }

    /// Opens a dialog, and starts the prompter if it does not run.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        // A prompter that has nothing to do ends after some seconds, which may be just now; then a new one is started.
        if let dialog = try await openUnlessGone() { return dialog }
        if let dialog = try await openUnlessGone() { return dialog }
        throw PromptError(.crashed, reason: "the prompter leaves the bus when it is asked")
    }

    /// Opens a dialog; nil if the prompter has gone meanwhile.
    private func openUnlessGone() async throws(PromptError) -> GCRDialog? {
        let peer = try await findPrompter()
        let dialog = try makeDialog(with: peer)
        do throws(BusError) {
            try await dialog.begin(timeout: callTimeout)
            return dialog
        } catch {
            dialog.close()
            if await hasGone(peer, after: error) { return nil }
            if error.name == .noReply {
                throw PromptError(.timedOut, reason: "the prompter does not answer")
            }
            throw PromptError(.failed, reason: "the prompter refuses a dialog: \(error)")
        }
    }

    /// The unique name of the prompter, which is the one that may call back.
    private func findPrompter() async throws(PromptError) -> String {
        do throws(BusError) {
            if let owner = try await connection.owner(of: GCRPrompter.busName) { return owner }
            try await connection.startService(GCRPrompter.busName, timeout: callTimeout)
            if let owner = try await connection.owner(of: GCRPrompter.busName) { return owner }
        } catch {
            throw PromptError(.unavailable, reason: "\(GCRPrompter.busName) cannot be reached: \(error)")
        }
        throw PromptError(.unavailable, reason: "\(GCRPrompter.busName) ends as soon as it is started")
    }

    private func makeDialog(with peer: String) throws(PromptError) -> GCRDialog {
        let exchange: GCRExchange
        do throws(GcryptError) {
            exchange = try GCRExchange()
        } catch {
            throw PromptError(.failed, reason: "no key for the exchange with the prompter: \(error)")
        }
        GCRPrompter.dialogCount += 1
        let path = ObjectPath(unchecked: "/org/keychaind/prompt/gcr\(GCRPrompter.dialogCount)")
        let channel = GCRChannel(connection, to: peer, path: path)
        return GCRDialog(channel, exchange: exchange, inspector: inspector, timeout: timeout, logger: logger)
    }

    private func hasGone(_ peer: String, after error: BusError) async -> Bool {
        switch error.name {
        case .serviceUnknown, .nameHasNoOwner: true
        case .noReply: (try? await connection.owner(of: peer)) == .some(nil)
        default: false
        }
    }
}
