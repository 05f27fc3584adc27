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
    private let displays: ScreenDisplays?
    private let logger: Logger
    private let variables = ProcessEnvironment.variables
    private let environment: SessionEnvironment

    /// - Parameters:
    ///   - inspector: judges whether to trust a prompter; nil trusts all.
    ///   - displays: finds the screen that a person sees; nil asks wherever the environment says.
    init(
        connection: Connection,
        pinentries: PinentryLauncher,
        inspector: (any PrompterInspector)?,
        displays: ScreenDisplays?,
        logger: Logger
    ) {
        self.connection = connection
        self.pinentries = pinentries
        self.inspector = inspector
        self.displays = displays
        self.logger = logger
        environment = SessionEnvironment(own: variables, connection: connection)
    }

    /// keychaind's own dialog, relative to this program, so that any installation prefix works.
    private var ownDialog: [String] {
        guard let own = ProcessFolder("self", in: "/proc").link("exe"), let slash = own.lastIndex(of: "/") else {
            return []
        }
        return ["\(own[...slash])../libexec/keychaind/keychaind-dialog"]
    }

    /// The prompters, in the order of `names`.
    func make(_ names: [PrompterName]) -> [any Prompter] {
        names.compactMap { name in
            switch name {
            case .kde:
                KDEPrompter(connection: connection, environment: environment, inspector: inspector, logger: logger)
            case .gcr: GCRPrompter(connection: connection, inspector: inspector, logger: logger)
            case .pinentry:
                PinentryPrompter(
                    launcher: pinentries,
                    programs: ownDialog + PinentryPrompter.programs,
                    environment: environment,
                    displays: displays
                )
            case .tty: TerminalPrompter(launcher: pinentries, environment: variables)
            case .none: nil
            }
        }
    }
}
