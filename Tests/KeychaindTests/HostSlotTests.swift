import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Host slots: the machine's TPM opens `login`.
struct HostSlotTests {
    private static let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
    private static let keySlots = "org.keychaind.KeySlots1"

    /// A daemon with a TPM and an item in `login`, whose password is "password".
    private func run(
        unlockAtStart: Bool = true,
        _ body: (RunningService, SoftwareTPM, KeychainDaemon.Options) async throws -> Void
    ) async throws {
        let tpm = try await SoftwareTPM()
        let folder = try ConfigurationFolder(
            "[host]\nunlock-at-start = \(unlockAtStart)\ntpm = \"\(tpm.transport)\"\n"
        )
        var options = KeychainDaemon.Options()
        options.arguments = ["--verbose"]
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            let session = try await service.client.openPlainSession()
            _ = try await service.client.createItem("label", ["a": "b"], secret: "kept", session: session)
            options.password = nil
            try await body(service, tpm, options)
        }
    }

    private func addHost(_ service: RunningService) async throws {
        let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
        let prompt = try await service.client.call(Self.login, Self.keySlots, "AddHost", "laptop").read(ObjectPath.self)
        #expect(try await !service.client.complete(prompt).isDismissed)
        await prompter.crash()
    }

    /// Expects `login` to be unlocked or locked at the first call after a start.
    private func expectAtStart(
        isOpen: Bool,
        _ service: RunningService,
        _ options: KeychainDaemon.Options,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await service.daemon.restart(options)
        let client = try await service.makeClient()
        let hits = try await client.searchItems(["a": "b"])
        let log = service.daemon.child.standardError.lines.all.suffix(20).joined(separator: "\n")
        let counts = [hits.unlocked.count, hits.locked.count]
        #expect(counts == (isOpen ? [1, 0] : [0, 1]), "\(log)", sourceLocation: location)
        guard let item = hits.unlocked.first else { return }
        #expect(try await client.secretText(of: item, session: client.openPlainSession()) == "kept")
    }

    @Test("a configured start unlocks login without a dialog")
    func start_configured_unlocksLoginWithoutAQuestion() async throws {
        try await run { service, tpm, options in
            // The configuration without a host slot opens nothing.
            try await expectAtStart(isOpen: false, service, options)
            var withPassword = options
            withPassword.password = "password"
            try await expectAtStart(isOpen: true, service, withPassword)
            try await addHost(service)
            try await expectAtStart(isOpen: true, service, options)
            try await tpm.reboot()
            try await expectAtStart(isOpen: true, service, options)
        }
    }

    @Test("without a configuration, login needs its password")
    func start_notConfigured_asksAsEver() async throws {
        try await run(unlockAtStart: false) { service, _, options in
            try await addHost(service)
            try await expectAtStart(isOpen: false, service, options)
        }
    }

    @Test("on another machine or without a TPM, login stays locked, and the password opens it")
    func start_anotherMachine_orNone_staysLocked_andThePasswordOpens() async throws {
        try await run { service, tpm, options in
            try await addHost(service)
            try await tpm.reset()
            try await expectAtStart(isOpen: false, service, options)
            _ = try await service.daemon.child.standardError.lines.first("why") { $0.contains("the TPM was reset") }
            try await tpm.remove()
            try await expectAtStart(isOpen: false, service, options)
            var withPassword = options
            withPassword.password = "password"
            try await expectAtStart(isOpen: true, service, withPassword)
        }
    }

    @Test("a TPM that fails is told once and in the dialog, and the button asks for the password")
    func start_failingTPM_isTold() async throws {
        try await run { service, tpm, options in
            try await addHost(service)
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            try await tpm.reset()
            try await expectAtStart(isOpen: false, service, options)
            let notification = try await desktop.shown.first("the notification")
            #expect(notification.summary == "This computer could not unlock your keychain")
            #expect(notification.body.contains("the TPM was reset"))
            let prompter = try await FakePrompter(on: service.bus, [.cancel, .answer("password")])
            try await desktop.press("Unlock…", of: notification)
            let question = try await prompter.questions.first("the question")
            #expect(question.text("description")?.contains("This computer did not open it: ") == true)
            try await expectAtStart(isOpen: false, service, options)
            let client = try await service.makeClient()
            #expect(try await !client.complete(client.unlock([Self.login]).prompt).isDismissed)
            #expect(desktop.shown.count == 1)
            await prompter.crash()
        }
    }

    @Test("tpm2-tools can unseal the key on the same TPM, on the way to which it is encrypted")
    func sealedKey_isThatOfItsTPM_asOtherToolsSeeIt() async throws {
        try await run { service, tpm, options in
            try await addHost(service)
            try await expectAtStart(isOpen: true, service, options)
            try await service.daemon.stop()
            let traffic = try tpm.traffic()
            let slots = try LogImage(at: service.daemon.dataHome + "/keychaind/login.keychain").slots()
            let parameters = try #require(slots.first { slot in slot.kind == 4 }).parameters
            let sealed = parameters.dropFirst(4).prefix(Int(parameters[2]) << 8 | Int(parameters[3]))
            let note = parameters.dropFirst(4 + sealed.count)
            #expect(note.dropFirst(8).elementsEqual("laptop".utf8))
            let publicPart = sealed.prefix(2 + (Int(sealed[4]) << 8 | Int(sealed[5])))
            let folder = try TemporaryFolder()
            try Data(publicPart).write(to: URL(fileURLWithPath: folder.path("key.pub")))
            try Data(sealed.dropFirst(publicPart.count)).write(to: URL(fileURLWithPath: folder.path("key.priv")))
            try await tpm.tool("createprimary", "-C", "o", "-G", "ecc", "-c", "@primary", in: folder)
            try await tpm.tool("load", "-C", "@primary", "-u", "@key.pub", "-r", "@key.priv", "-c", "@key", in: folder)
            try await tpm.tool("unseal", "-c", "@key", "-o", "@out", in: folder)
            let key = try Data(contentsOf: URL(fileURLWithPath: folder.path("out")))
            #expect(key.count == 32)
            let digits = key.map { String(format: "%02X", $0) }.joined()
            #expect(!traffic.contains(digits))
            // Control: these tools do not encrypt.
            #expect(try tpm.traffic().contains(digits))
        }
    }

    @Test("after the host slot is removed, login needs its password")
    func remove_theMachine_asksAgain() async throws {
        try await run { service, _, options in
            try await addHost(service)
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let prompt = try await service.client.call(Self.login, Self.keySlots, "Remove", UInt64(2))
                .read(ObjectPath.self)
            #expect(try await !service.client.complete(prompt).isDismissed)
            let message = prompter.questions.all.last?.text("message")
            #expect(message == "Remove this computer (“laptop”) from the keychain “Login”")
            await prompter.crash()
            try await expectAtStart(isOpen: false, service, options)
        }
    }
}
