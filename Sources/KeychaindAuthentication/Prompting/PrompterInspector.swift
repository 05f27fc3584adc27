package import KeychaindDBus
package import KeychaindDesktop
package import Logging

/// Decides the trust in prompters on the session bus; without an inspector, all are trusted.
@BusActor
package protocol PrompterInspector: AnyObject, Sendable {
    /// Returns the trust in the owner of a prompter's name; one that cannot be examined in time is not trusted.
    func trust(inOwner uniqueName: String, of busName: String) async -> PrompterTrust
}

/// Which answers count from a dialog.
package enum PrompterTrust: Hashable, Sendable {
    /// A person sees the dialog: all answers count, and touches of the reader while it is shown.
    case trusted

    /// A program of the user may be behind the dialog: only passwords count.
    case passwordsOnly(reason: String)

    package var objection: String? {
        if case .passwordsOnly(let reason) = self { reason } else { nil }
    }
}

/// Trusts the compositor of a session that a person sees, and logs why others are not trusted.
@BusActor
package final class SessionPrompterInspector: PrompterInspector {
    static let notTheCompositor = "it does not draw the screen of a session"
    private static let mostReported = 64

    private let connection: Connection
    private let screens: SessionScreens
    private let examination: BusExamination
    private let threads: BlockingCalls
    private let logger: Logger
    /// The reasons that were logged.
    private var reported: Set<String> = []

    /// - Parameter patience: the time limit of an examination.
    package init(
        connection: Connection,
        screens: SessionScreens,
        examination: BusExamination = BusExamination(),
        patience: Duration = .seconds(2),
        logger: Logger
    ) {
        self.connection = connection
        self.screens = screens
        self.examination = examination
        self.logger = logger
        threads = BlockingCalls(limit: 4, patience: patience)
    }

    package func trust(inOwner uniqueName: String, of busName: String) async -> PrompterTrust {
        let trust = await judge(uniqueName)
        if let reason = trust.objection, !reported.contains(reason) {
            // Each dialog is examined more than once, mostly for one of few reasons.
            if reported.count >= SessionPrompterInspector.mostReported { reported = [] }
            reported.insert(reason)
            logger.notice(
                "A prompter is trusted with passwords only",
                metadata: ["prompter": "\(busName)", "reason": "\(reason)"]
            )
        }
        return trust
    }

    private func judge(_ uniqueName: String) async -> PrompterTrust {
        guard let process = await process(of: uniqueName) else {
            return .passwordsOnly(reason: "the bus does not report its process")
        }
        guard await screens.visible().contains(where: { $0.display == .wayland && $0.controller == process.id }) else {
            return .passwordsOnly(reason: SessionPrompterInspector.notTheCompositor)
        }
        guard let bus = await connection.senderProcess() else {
            return .passwordsOnly(reason: "the session bus cannot be seen")
        }
        let trust = await threads.run { [examination] in
            let trust = examination.trust(inBus: bus)
            // A running process behind the descriptor is the one that the bus means.
            return process.credentials.isRunning ? trust : .passwordsOnly(reason: "it has ended")
        }
        return trust ?? .passwordsOnly(reason: "looking into the session bus takes too long")
    }

    private func process(of name: String) async -> (id: Int32, credentials: ConnectionCredentials)? {
        guard let credentials = try? await connection.credentials(of: name),
            let id = credentials.processID.flatMap(Int32.init(exactly:)), id > 0
        else { return nil }
        return (id, credentials)
    }
}
