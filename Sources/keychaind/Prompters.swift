import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import Logging

/// Creates prompters by name.
@BusActor
struct Prompters {
    private let connection: Connection
    private let pinentries: PinentryLauncher
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let variables = ProcessEnvironment.variables
    private let environment: SessionEnvironment

    /// - Parameter inspector: judges whether to trust a prompter; nil trusts all.
    init(
        connection: Connection,
        pinentries: PinentryLauncher,
        inspector: (any PrompterInspector)?,
        logger: Logger
    ) {
        self.connection = connection
        self.pinentries = pinentries
        self.inspector = inspector
        self.logger = logger
        environment = SessionEnvironment(own: variables, connection: connection)
    }

    /// The prompters, in the order of `names`.
    func make(_ names: [PrompterName]) -> [any Prompter] {
        names.compactMap { name in
            switch name {
            case .kde:
                KDEPrompter(connection: connection, environment: environment, inspector: inspector, logger: logger)
            case .gcr: GCRPrompter(connection: connection, inspector: inspector, logger: logger)
            case .pinentry: PinentryPrompter(launcher: pinentries, environment: environment)
            case .tty: TerminalPrompter(launcher: pinentries, environment: variables)
            case .none: nil
            }
        }
    }
}
