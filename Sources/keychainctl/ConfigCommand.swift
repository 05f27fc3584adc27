import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindConfiguration
import KeychaindLanguage
import SecretServiceClient

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check the configuration of keychaind.",
        subcommands: [ConfigCheckCommand.self],
        defaultSubcommand: ConfigCheckCommand.self
    )
}

struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show the mistakes of the configuration, and the settings in force.",
        discussion: "Ends with status 12 if there are mistakes. keychaind need not run."
    )

    @Argument(help: "Another file than that of keychaind.", completion: .file())
    var file: String?

    @OptionGroup var format: JSONArguments

    func run() async throws {
        let check = try ConfigurationCheck(file)
        let provider = await RunningProvider.read()
        try await Interruption.cancelling { [format] interruption in
            let output = Output(interruption)
            for line in format.json ? [check.json(provider)] : check.lines(provider) { try output.line(line) }
            try output.flush()
        }
        if let failure = check.failure { throw failure }
    }
}

/// The provider that runs, if any.
enum RunningProvider: Sendable {
    case none
    /// Another program, an earlier keychaind, or one that does not answer.
    case silent
    case keychaind(DaemonSettings)

    private static let patience = Duration.seconds(5)

    /// Asks for the settings in force; starts no provider.
    static func read() async -> RunningProvider {
        guard await SessionBus.open()?.owner() != nil else { return .none }
        var configuration = SecretClient.Configuration()
        configuration.connectTimeout = patience
        configuration.callTimeout = patience
        guard let client = try? await SecretClient.connect(configuration),
            let status = try? await client.keychaindStatus(), let lines = status.settings
        else { return .silent }
        return .keychaind(DaemonSettings(file: status.configurationFile, lines: lines))
    }

    var settings: DaemonSettings? {
        if case .keychaind(let settings) = self { settings } else { nil }
    }
}

/// The settings of a running keychaind.
struct DaemonSettings: Sendable {
    let file: String
    /// As lines of TOML.
    let lines: [String]

    /// The settings of a configuration that are not in force.
    func missing(of settings: [Setting]) -> [Setting] {
        settings.filter { !lines.contains($0.description) }
    }

    /// Whether all settings of a configuration are in force, and no others.
    func matches(_ settings: [Setting]) -> Bool { Set(lines) == Set(settings.map(\.description)) }
}

/// A configuration file with its mistakes and its effect.
struct ConfigurationCheck {
    let path: String
    let isThere: Bool
    let reading: ConfigurationReading

    init(_ file: String?) throws(CommandFailure) {
        guard let path = file ?? ConfigurationFile.standardPath else {
            throw CommandFailure(.notFound, "there is no home folder with a configuration; name a file")
        }
        self.path = path
        switch ConfigurationFile.read(path) {
        case .text(let text):
            isThere = true
            reading = ConfigurationReading(of: text)
        case .missing:
            guard file == nil else { throw CommandFailure(.notFound, "there is no file \(path.visible)") }
            isThere = false
            reading = ConfigurationReading(of: [])
        case .unreadable(let reason):
            throw CommandFailure(
                .inputOutput,
                """
                \(path.visible) cannot be read: \(reason). With this file keychains lock with the screen and \
                before sleep.
                """
            )
        }
    }

    var failure: CommandFailure? {
        let count = reading.mistakes.count
        guard count > 0 else { return nil }
        return CommandFailure(
            .mistakes,
            Text(
                count,
                one: "\(path.visible) has \(count) mistake; the rest of it applies",
                other: "\(path.visible) has \(count) mistakes; the rest of it applies"
            )
        )
    }

    private var settings: [Setting] { reading.configuration.settings }

    /// Whether the daemon reads this file, by whatever name.
    private func isFile(of daemon: DaemonSettings) -> Bool {
        path == daemon.file || ConfigurationCheck.resolved(path) == ConfigurationCheck.resolved(daemon.file)
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    // MARK: For people

    func lines(_ provider: RunningProvider) -> [String] {
        var lines: [String] = []
        for mistake in reading.mistakes {
            lines.append("\(path.visible):\("\(mistake)".visible)")
            lines.append("  " + ConfigurationCheck.words(mistake.consequence).localized)
        }
        if !lines.isEmpty { lines.append("") }
        let heading =
            isThere
            ? Text("Settings in \(path.visible):") : Text("There is no \(path.visible). The defaults apply:")
        lines.append(heading.localized)
        lines += settings.map { "  \($0)" }
        lines.append("")
        lines.append(state(provider).localized)
        return lines
    }

    private static func words(_ consequence: ConfigurationReading.Consequence) -> Text {
        switch consequence {
        case .setting(let setting): Text("Instead applies: \(setting.description)")
        case .lockingMore(nil):
            Text(
                """
                Left out. Keychains lock with the screen, before sleep and at the end of the session, unless set here.
                """
            )
        case .lockingMore(let keychain?):
            Text(
                """
                Left out. The keychain “\(keychain.visible)” locks with the screen, before sleep and at the end of \
                the session, unless set here.
                """
            )
        case .nothing: Text("Left out.")
        }
    }

    private func state(_ provider: RunningProvider) -> Text {
        switch provider {
        case .none: Text("keychaind is not running.")
        case .silent: Text("The running provider gives no settings: it does not answer, or is not this keychaind.")
        case .keychaind(let daemon): state(of: daemon)
        }
    }

    private func state(of daemon: DaemonSettings) -> Text {
        guard isFile(of: daemon) else {
            return Text("The running keychaind reads another file: \(daemon.file.visible)")
        }
        if daemon.matches(settings) { return Text("The running keychaind has these settings in force.") }
        let missing = daemon.missing(of: settings)
        let later = missing.filter(\.isReadAtStart).map(\.name).joined(separator: ", ")
        guard missing.contains(where: { !$0.isReadAtStart }) || later.isEmpty else {
            return Text("The running keychaind has these settings in force; after a restart also: \(later)")
        }
        return Text(
            """
            The running keychaind does not have these settings in force. It reads the file when it changes, and at \
            “systemctl --user reload keychaind”.
            """
        )
    }

    // MARK: JSON

    func json(_ provider: RunningProvider) -> String {
        let mistakes = reading.mistakes.map { mistake in
            """
            {"line": \(mistake.place.line), "column": \(mistake.place.column), \
            "message": \(JSON.string(mistake.error.reason)), \
            "consequence": \(JSON.string(ConfigurationCheck.words(mistake.consequence).english))}
            """
        }
        let values = settings.map { "\(JSON.string($0.name)): \($0.value.json)" }
        return """
            {"file": \(JSON.string(path)), "exists": \(isThere), "mistakes": [\(mistakes.joined(separator: ", "))], \
            "settings": {\(values.joined(separator: ", "))}, "keychaind": \(json(of: provider.settings))}
            """
    }

    private func json(of daemon: DaemonSettings?) -> String {
        guard let daemon else { return "null" }
        let isSame = isFile(of: daemon)
        let missing = isSame ? daemon.missing(of: settings) : []
        let (later, now) = (missing.filter(\.isReadAtStart), missing.filter { !$0.isReadAtStart })
        func names(_ settings: [Setting]) -> String { settings.map { JSON.string($0.name) }.joined(separator: ", ") }
        return """
            {"file": \(JSON.string(daemon.file)), "in-force": \(isSame && daemon.matches(settings)), \
            "not-in-force": [\(names(now))], "after-restart": [\(names(later))]}
            """
    }
}

extension Setting.Value {
    fileprivate var json: String {
        switch self {
        case .flag(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .text(let text): JSON.string(text)
        case .texts(let texts): "[\(texts.map(JSON.string).joined(separator: ", "))]"
        }
    }
}
