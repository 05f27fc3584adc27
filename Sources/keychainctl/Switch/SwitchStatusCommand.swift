import ArgumentParser
import KeychaindCommandLine
import KeychaindSwitch

struct SwitchStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show who provides the Secret Service, and what is not as it should be."
    )

    @OptionGroup var target: SwitchTarget

    func run() async throws {
        let account = try target.account()
        let session = target.all ? nil : await Session.open()
        var inspection = Inspection(of: account, owner: await session?.owner())
        if !target.all, SystemProgram.status(["systemctl", "--user", "--quiet", "is-failed", "keychaind.service"]) == 0
        {
            inspection.add("keychaind.service has failed", "journalctl --user --unit keychaind says why")
        }
        show(inspection, hasBus: session != nil)
        guard inspection.findings.isEmpty else { throw ExitCode(KeychaindCommandLine.ExitStatus.incomplete.rawValue) }
    }

    private func show(_ inspection: Inspection, hasBus: Bool) {
        if let owner = inspection.owner {
            let unit = owner.unit.map { ", \($0.visible)" } ?? ""
            print("Now:         \(owner.program.visible) (process \(owner.process)\(unit))")
        } else if !target.all {
            print("Now:         \(hasBus ? "no provider runs" : "there is no session bus")")
        }
        if let next = inspection.next {
            print("Next login:  \(next.program.visible), by \(next.activationFile.visible)")
        } else {
            print("Next login:  no provider")
        }
        switch inspection.choice {
        case .none: print("Switched:    no")
        case .user: print("Switched:    yes, for this account")
        case .all: print("Switched:    yes, for all accounts")
        }
        for finding in inspection.findings {
            print("\n! \(finding.problem.visible)\n  \(finding.mend.visible)")
        }
    }
}

/// `keychainctl doctor`: the same check.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what is not as it should be, and the command that mends it."
    )

    @OptionGroup var status: SwitchStatusCommand

    func run() async throws {
        try await status.run()
    }
}
