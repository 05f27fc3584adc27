import KeychaindDBus
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The dialog that limits a sandboxed program to its own items.
struct ConfirmTests {
    private static let program = "flatpak:org.example.Mail"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/secrets/sandboxes")
    private static let interface = "org.keychaind.Sandboxes1"

    @Test("an item that was renamed while the dialog named it is not given to the program")
    func renamedItem_isNotGiven() async throws {
        try await RunningService.withPrompter([.hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let mail = try await client.createItem("Mail", ["service": "mail"], session: session)
            let note = try await client.createItem("Note", ["service": "note"], session: session)
            let prompt = try await client.call(Self.path, Self.interface, "Confirm", Self.program, [mail, note])
                .read(ObjectPath.self)
            try await client.show(prompt)
            let question = try await prompter.questions.first("the dialog")
            #expect(question.text("description")?.contains("Note") == true)
            try await client.setProperty("Label", of: note, Interface.item, to: .string("Bank"))
            // A program that stores its secret again takes nothing from anybody.
            try await client.setSecret(WireSecret(session: session, value: Array("new".utf8)), of: mail)
            await prompter.respond(.answer(""), to: question)
            let outcome = try await client.completion(of: prompt)
            #expect(outcome == PromptOutcome(isDismissed: false, result: .boolean(true)))
            let items = try await client.call(Self.path, Self.interface, "Items", Self.program).read([ObjectPath].self)
            #expect(items == [mail])
        }
    }

    @Test("an item that another program got before the dialog was shown stays with that one")
    func itemOfAnother_staysWithIt() async throws {
        try await RunningService.withPrompter([.hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Letter", ["service": "mail"], session: session)
            func confirm(_ program: String) async throws -> ObjectPath {
                try await client.call(Self.path, Self.interface, "Confirm", program, [item]).read(ObjectPath.self)
            }
            let (first, second) = (try await confirm(Self.program), try await confirm("flatpak:org.example.Other"))
            for prompt in [second, first] {
                let count = prompter.questions.count
                try await client.show(prompt)
                let question = try await prompter.questions.first("the dialog", after: count)
                #expect(question.text("description")?.contains("Letter") == (prompt == second))
                await prompter.respond(.answer(""), to: question)
                let outcome = try await client.completion(of: prompt)
                #expect(outcome == PromptOutcome(isDismissed: false, result: .boolean(true)))
            }
            for (program, items) in [("flatpak:org.example.Other", [item]), (Self.program, [])] {
                let reply = try await client.call(Self.path, Self.interface, "Items", program)
                #expect(try reply.read([ObjectPath].self) == items)
            }
        }
    }

    @Test("what a program asked for before a person limited it is dismissed, run or not, and nobody is asked", .onLoop)
    @BusActor
    func programIsLimited_whatItAskedForBefore_isDismissed() async throws {
        let service = try await ProviderInProcess.unconfirmed()
        let (client, other) = (service.client, try SecretServiceProxy(on: service.bus))
        let session = try await client.openPlainSession()
        let running = try await client.deleteCollection(.login)
        let prompts = [
            running,
            try await client.addSlot("AddPassword", to: .login),
            try await client.createCollection([:]).prompt,
            try await client.unlock([.login]).prompt,
        ]
        let prompter = try FakePrompter(on: service.bus, [.hang])
        let limiting = try await ProviderInProcess.limitingPrompt(of: other)
        try await other.show(limiting)
        let question = try await prompter.questions.first("the dialog that limits it") { _ in true }
        try await client.show(running)
        let making = Task { @BusActor in _ = try await client.makeRecoveryKey(of: .login, session: session) }
        // The call is sent during the first one and has arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        prompter.respond(.answer(""), to: question)
        #expect(try await other.completion(of: limiting) == PromptOutcome(isDismissed: false, result: .boolean(true)))
        for prompt in prompts {
            #expect(try await client.completion(of: prompt).isDismissed)
            await #expect(throws: BusError.unknownObject) { try await client.show(prompt) }
        }
        await #expect(throws: BusError.accessDenied) { try await making.value }
        #expect(client.completions.count == prompts.count)
        #expect(prompter.questions.count == 1)
        prompter.crash()
        await service.vault.close()
    }
}
