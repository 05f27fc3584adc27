import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindSwitch

struct SwitchOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Make keychaind the provider from the next login on."
    )

    @OptionGroup var target: SwitchTarget

    @Flag(name: [.customShort("n"), .long], help: "Only show the plan.")
    var dryRun = false

    @Flag(help: "Hand over in the running session too.")
    var now = false

    @Flag(help: "Switch although items of the other provider were not imported.")
    var withoutImport = false

    @Flag(help: "With --all: only where no other provider is installed; otherwise do nothing.")
    var ifNone = false

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    mutating func validate() throws {
        guard target.all || !ifNone else { throw ValidationError("--if-none needs --all") }
        guard !target.all || !now else { throw ValidationError("--now is for one account") }
    }

    func run() async throws {
        let account = try target.account()
        if ifNone, !account.otherProviders.isEmpty { return }
        let session = await SessionBus.open()
        guard session != nil || !now || dryRun else {
            throw CommandFailure(.noProvider, "there is no session bus to hand over on")
        }
        if !target.all, !withoutImport { try await checkImport(account, session) }
        // The package of the PAM module configures PAM itself.
        var plan = try Plan(for: account, withLogins: !ifNone)
        if target.root != nil, !plan.commands.isEmpty {
            plan.notes.append(Text("in an image, run these yourself: \(commands(of: plan))"))
            plan.commands = []
        }
        if target.all, !ifNone, !account.otherProviders.isEmpty {
            let providers = Text.joined(account.otherProviders.map(Text.init(verbatim:)), by: Text(" or "))
            plan.notes.append(Text("each account with items in \(providers) runs keychainctl import first"))
        }
        if !target.all, case let modules = account.otherLoginModules, !modules.isEmpty {
            let finding = Inspection.Finding(ofLogins: modules)
            plan.notes += [finding.problem, finding.mend]
        }
        show(plan)
        if dryRun { return }
        try Switch(account).on(plan)
        if !target.all { await session?.reload() }
        if now, let session {
            try await session.handOver()
            say(Text("keychaind provides the Secret Service now."))
        } else if await session?.owner()?.isKeychaind != true, !target.all {
            say(Text("Log out and in, and keychaind answers. Back: keychainctl switch off."))
        }
    }

    private func checkImport(_ account: SwitchAccount, _ session: SessionBus?) async throws(CommandFailure) {
        var sources = ImportSource.withFiles(in: account)
        if let session, let owner = await session.owner() {
            sources = []
            if !owner.isKeychaind {
                sources = [ImportSource(program: owner.program, items: try await session.countItems())]
            }
        }
        for source in sources {
            guard let gap = source.gap(in: account) else { continue }
            throw CommandFailure(
                .refused,
                "\(source.name.visible): \(gap). Run keychainctl import first, or leave them behind with --without-import"
            )
        }
    }

    private func show(_ plan: Plan) {
        if plan.isEmpty { say(Text("All files are as they should be.")) }
        let purposes = plan.steps.map { $0.purpose.localized.visible }
        let width = purposes.map(\.columns).max() ?? 0
        for (purpose, step) in zip(purposes, plan.steps) {
            say(Text(verbatim: "  \(purpose.padded(to: width))  \(step.path.visible)"))
        }
        for command in plan.commands { say(Text(verbatim: "  \(command.arguments.joined(separator: " "))")) }
        for note in plan.notes { say(Text("Note: \(note.localized.visible)")) }
    }

    private func commands(of plan: Plan) -> String {
        plan.commands.map { $0.arguments.joined(separator: " ") }.joined(separator: "; ")
    }

    private func say(_ line: Text) {
        if !quiet { Terminal.say(line) }
    }
}
