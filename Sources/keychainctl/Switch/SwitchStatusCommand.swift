import ArgumentParser
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindSwitch
import SecretServiceClient

struct SwitchStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which program provides the Secret Service, and any problems."
    )

    @OptionGroup var target: SwitchTarget

    private static let patience = Duration.seconds(10)

    func run() async throws {
        try await Self.show(target)
    }

    /// - Parameter withKeychains: whether the faults of keychains are told, too.
    static func show(_ target: SwitchTarget, withKeychains: Bool = false) async throws {
        let account = try target.account()
        let session = target.all ? nil : await SessionBus.open()
        let owner = await session?.owner()
        var inspection = Inspection(of: account, owner: owner, queue: await session?.queue() ?? [])
        if !target.all, SystemProgram.status(["systemctl", "--user", "--quiet", "is-failed", "keychaind.service"]) == 0
        {
            inspection.add(
                Text("keychaind.service has failed"),
                Text("journalctl --user --unit keychaind says why")
            )
        }
        if Gcrypt.isInFIPSMode { inspection.add(.fipsMode, Text("leave FIPS mode, or use another provider")) }
        for folder in target.all ? [] : SetAsideKeychains.folders {
            inspection.add(
                Text("Keychains of an account with the same number as yours are set aside: \(folder)"),
                Text("An administrator gives them back or removes them, as docs/domain.md says")
            )
        }
        var problems: [KeychainProblem] = []
        if withKeychains, owner?.isKeychaind == true {
            do throws(SecretServiceError) {
                problems = try await problemsOfKeychaind(adding: &inspection)
            } catch {
                inspection.add(
                    Text("keychaind does not answer"),
                    Text("journalctl --user --unit keychaind says why")
                )
            }
        }
        show(inspection, hasBus: session != nil, of: target)
        // Each says itself what mends it.
        for problem in problems { Terminal.say(Text(verbatim: "\n! \(problem.line.localized)")) }
        guard inspection.findings.isEmpty, problems.isEmpty else {
            throw ExitCode(KeychaindCommandLine.ExitStatus.incomplete.rawValue)
        }
    }

    /// The faults of keychains, from a keychaind that answers; adds that of the dialogs.
    private static func problemsOfKeychaind(
        adding inspection: inout Inspection
    ) async throws(SecretServiceError) -> [KeychainProblem] {
        var configuration = SecretClient.Configuration()
        configuration.callTimeout = patience
        let client = try await SecretClient.connect(configuration)
        _ = try await client.collections()
        let isScreenLocked = try await client.keychaindStatus()?.isSessionLocked == true
        if case .noDialog = try await ProviderStatus.reader(client, isScreenLocked: isScreenLocked) {
            inspection.add(
                Text("The fingerprint reader cannot be used: no dialog of this desktop may take a touch"),
                Text(
                    "That takes a session on a screen of this computer, and the package keychaind-dialog or GNOME Shell on Wayland"
                )
            )
        }
        return await KeychainProblem.all(client)
    }

    private static func show(_ inspection: Inspection, hasBus: Bool, of target: SwitchTarget) {
        var lines: [(title: Text, text: Text)] = []
        if let owner = inspection.owner {
            let program = owner.program.visible
            lines.append(
                (
                    Text("Now:"),
                    owner.unit.map { Text("\(program) (process \(owner.process), \($0.visible))") }
                        ?? Text("\(program) (process \(owner.process))")
                )
            )
        } else if !target.all {
            lines.append((Text("Now:"), hasBus ? Text("no provider runs") : Text("there is no session bus")))
        }
        // Translators: a program, and the file that names it
        let next = inspection.next.map { Text("\($0.program.visible), by \($0.activationFile.visible)") }
        lines.append((Text("Next login:"), next ?? Text("no provider")))
        let choice =
            switch inspection.choice {
            case .none: Text("no")
            case .user: Text("yes, for this account")
            case .all: Text("yes, for all accounts")
            }
        lines.append((Text("Switched:"), choice))
        let width = max(11, lines.map { $0.title.localized.columns }.max() ?? 0) + 2
        for line in lines { Terminal.say(Text(verbatim: line.title.localized.padded(to: width) + line.text.localized)) }
        for finding in inspection.findings {
            Terminal.say(
                Text(verbatim: "\n! \(finding.problem.localized.visible)\n  \(finding.mend.localized.visible)")
            )
        }
    }
}

/// `keychainctl doctor`: the same check, and the faults of keychains.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find problems, and the command that solves each."
    )

    @OptionGroup var target: SwitchTarget

    func run() async throws {
        try await SwitchStatusCommand.show(target, withKeychains: true)
    }
}
