package import KeychaindDBus
import KeychaindGcrypt
package import Logging

/// The prompter of GNOME and related desktops, `org.gnome.keyring.SystemPrompter`.
@BusActor
package final class GCRPrompter: Prompter {
    /// The well-known name; the bus activates the prompter.
    package nonisolated static let busName = "org.gnome.keyring.SystemPrompter"

    static let path = ObjectPath(unchecked: "/org/gnome/keyring/Prompter")
    static let interface = "org.gnome.keyring.internal.Prompter"

    package let name = "gcr"

    /// Shared by all prompters, whose dialogs may use one connection.
    private static var dialogCount: UInt64 = 0

    private let connection: Connection
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let timeout: Duration
    private let callTimeout: Duration

    /// - Parameters:
    ///   - inspector: judges the prompter process; nil trusts it.
    ///   - timeout: the time limit of a question, including its time in the prompter's queue.
    ///   - callTimeout: the time limit of the start and of calls without a person.
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

    /// Nil if the prompter neither runs nor can be activated.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        await connection.expectedTrust(inPrompter: GCRPrompter.busName, by: inspector)
    }

    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        // An idle prompter may exit during this call; the second try starts a new one.
        if let dialog = try await openUnlessGone() { return dialog }
        if let dialog = try await openUnlessGone() { return dialog }
        throw PromptError(.crashed, reason: "the prompter left the bus twice while opening a dialog")
    }

    /// Returns nil if the prompter left the bus meanwhile.
    private func openUnlessGone() async throws(PromptError) -> GCRDialog? {
        let peer = try await connection.findPrompter(GCRPrompter.busName, startingWithin: callTimeout)
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
            throw PromptError(.failed, reason: "the prompter rejected the dialog: \(error)")
        }
    }

    private func makeDialog(with peer: String) throws(PromptError) -> GCRDialog {
        let exchange: GCRExchange
        do throws(GcryptError) {
            exchange = try GCRExchange()
        } catch {
            throw PromptError(.failed, reason: "cannot create a key for the exchange with the prompter: \(error)")
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
