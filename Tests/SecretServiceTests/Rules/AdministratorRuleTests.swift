import Foundation
import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The rules in an administrator's folder.
struct AdministratorRuleTests {
    private func run(
        _ content: String,
        _ body: (RunningService, FakePrompter, _ folder: String, _ session: ObjectPath, _ item: ObjectPath) async throws
            -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.makeFolder("rules.d")
        chmod(rules, 0o755)
        try write(content, to: rules + "/10-company.rules")
        var options = KeychainDaemon.Options()
        options.arguments = ["--rules-dir", rules]
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem(
                "Bank",
                ["service": "bank"],
                secret: "secret",
                session: session
            )
            try await body(service, prompter, rules, session, item)
            await prompter.crash()
        }
    }

    private func write(_ content: String, to path: String) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o644)
    }

    @Test("users cannot loosen an administrator's rule, nor remove it")
    func user_cannotLoosen() async throws {
        try await run("# Banks\n\n  never any service=bank\nask-once any service=mail\n") {
            service,
            _,
            folder,
            session,
            item in
            let client = service.client
            try await client.addRules("allow \(ownIdentity) item=\(item.rawValue)", "never any service=mail")
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            let mail = try await client.createItem("Mail", ["service": "mail"], session: session)
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: mail, session: session) }
            let place = folder + "/10-company.rules:3"
            let rules = try await client.rules()
            #expect(rules.first.map { [$0.id, $0.origin, $0.text] } == [place, place, "never any service=bank"])
            await #expect(throws: BusError.accessDenied) { _ = try await client.removeRules(place) }
            #expect(try await client.testRule("", item.rawValue).id == place)
        }
    }

    @Test("a login that was not unlocked yet is deleted with one password, unless a rule forbids an item of it")
    func deletionOfAnUnreadLogin_asksOnce() async throws {
        try await run("never any service=bank\n") { service, prompter, folder, _, _ in
            let client = service.client
            var options = KeychainDaemon.Options(password: nil)
            options.arguments = ["--rules-dir", folder]
            try await service.daemon.restart(options)
            #expect(try await client.complete(client.deleteCollection(.login)).isDismissed)
            #expect(prompter.questions.count == 1)
            try write("never any service=mail\n", to: folder + "/10-company.rules")
            try await service.daemon.restart(options)
            #expect(try await !client.complete(client.deleteCollection(.login)).isDismissed)
            #expect(prompter.questions.count == 2)
            #expect(try await client.items(of: .login).isEmpty)
        }
    }

    @Test("the daemon follows the folder, and what it does not understand there asks at each read")
    func folder_isFollowed() async throws {
        try await run("") { service, prompter, folder, session, item in
            let client = service.client
            #expect(try await client.secretText(of: item, session: session) == "secret")
            let path = folder + "/20-more.rules"
            try write("never any service=bank\n", to: path)
            try await eventually("the new rule") { try await client.rules().count == 1 }
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            try write("never everybody service=bank\nnotify any *\n", to: path)
            try await eventually("the changed rules") { try await client.rules().count == 2 }
            let mistake = try #require(try await client.rules().first { $0.strength == "error" })
            #expect(
                mistake.origin == path + ":1" && mistake.id.isEmpty && mistake.text == "never everybody service=bank"
            )
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(prompter.questions.count == 0)
            try FileManager.default.removeItem(atPath: path)
            try await eventually("no rules") { try await client.rules().isEmpty }
            #expect(try await client.secretText(of: item, session: session) == "secret")
            // Others may write into it, so nobody knows who did; links and pipes do not hold the daemon up.
            for damage in ["chmod 666", "chmod 777 folder", "pipe", "link"] {
                try write("notify any service=other\n", to: path)
                switch damage {
                case "chmod 666": chmod(path, 0o666)
                case "chmod 777 folder": chmod(folder, 0o777)
                case "pipe":
                    try FileManager.default.removeItem(atPath: path)
                    mkfifo(path, 0o644)
                default:
                    try FileManager.default.removeItem(atPath: path)
                    symlink("/nonexistent", path)
                }
                try await eventually("the mistake: \(damage)") {
                    try await client.rules().contains { $0.strength == "error" }
                }
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
                chmod(folder, 0o755)
                try FileManager.default.removeItem(atPath: path)
                try await eventually("no rules after \(damage)") { try await client.rules().isEmpty }
            }
        }
    }
}
