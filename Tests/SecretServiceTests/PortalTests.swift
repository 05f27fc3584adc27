import Glibc
import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The Secret portal's backend with a scripted desktop portal; the script suite Session tests the real one.
@Suite(.onLoop)
struct PortalTests {
    private static let path = ObjectPath(unchecked: "/org/freedesktop/portal/desktop")
    private static let request = ObjectPath(unchecked: "/org/freedesktop/portal/desktop/request/1")

    @Test("on a locked keychain, the dialog names the application")
    @BusActor
    func retrieveSecret_locked_saysWhichApplicationAsks() async throws {
        let service = try await ProviderInProcess()
        let portal = try await self.portal(of: service)
        let prompter = try FakePrompter(on: service.bus, [.cancel])
        let response = try await retrieve("org.example”App", for: portal)
        #expect(response == 1)
        let question = try #require(prompter.questions.all.first)
        #expect(question.text("message")?.hasPrefix("The application “org.example’App” wants to unlock ") == true)
        let details = "Details: the application “org.example’App”, as the desktop portal says."
        #expect(question.text("description")?.hasSuffix(details) == true)
        prompter.crash()
        await service.vault.close()
    }

    @Test("the dialog closes with a screen lock and with the portal", arguments: [false, true])
    @BusActor
    func dialog_endsWithTheScreenAndWithThePortal(isScreen: Bool) async throws {
        let service = try await ProviderInProcess()
        let portal = try await self.portal(of: service)
        let prompter = try FakePrompter(on: service.bus, [.hang])
        let response = Task { @BusActor in try await retrieve("org.example.App", for: portal) }
        _ = try await prompter.questions.first("the question")
        if isScreen { service.provider.setSessionLocked(true) } else { portal.close() }
        _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        if isScreen {
            #expect(try await response.value == 1)
        } else {
            await #expect(throws: BusError.self) { try await response.value }
        }
        prompter.crash()
        await service.vault.close()
    }

    @Test("a request that ends before its dialog asks nobody", arguments: [false, true])
    @BusActor
    func retrieveSecret_endsWhileItWaitsForKeys_asksNobody(isClosed: Bool) async throws {
        let service = try await ProviderInProcess(opens: false)
        let portal = try await self.portal(of: service)
        let prompter = try FakePrompter(on: service.bus, [.cancel, .cancel])
        let response = Task.immediate { @BusActor in try await retrieve("org.example.App", for: portal) }
        if isClosed {
            try await eventually("the request") {
                let close = Message.call(
                    to: SecretPortal.busName,
                    Self.request,
                    "org.freedesktop.impl.portal.Request",
                    "Close"
                )
                return (try? await portal.call(close)) != nil
            }
        } else {
            let name = portal.uniqueName
            portal.close()
            // The signal of its end comes before the reply.
            try await eventually("its end") { try await service.connection.owner(of: name) == nil }
        }
        service.provider.vaultIsOpen()
        // The dialog of the request would come before this one.
        let prompt = try await service.client.unlock([.login]).prompt
        #expect(try await service.client.complete(prompt).isDismissed)
        #expect(prompter.questions.all.count == 1)
        if isClosed { #expect(try await response.value == 1) }
        prompter.crash()
        await service.vault.close()
    }

    @Test("a request at the path of another program's dialog does not take its answer away")
    @BusActor
    func retrieveSecret_atThePathOfADialog_isRefused() async throws {
        let service = try await ProviderInProcess()
        let portal = try await self.portal(of: service)
        let prompter = try FakePrompter(on: service.bus, [.hang])
        let prompt = try await service.client.unlock([.login]).prompt
        try await service.client.show(prompt)
        let question = try await prompter.questions.first("the question")
        let response = Task.immediate { @BusActor in
            try await retrieve("org.example.App", at: question.callback, for: portal)
        }
        // Its answer tells that the request was received.
        _ = try await portal.call(.call(to: SecretPortal.busName, Self.path, StandardInterface.peer, "Ping"))
        prompter.respond(.answer(ProviderInProcess.password), to: question)
        #expect(try await !service.client.completion(of: prompt).isDismissed)
        #expect(try await response.value == 2)
        prompter.crash()
        await service.vault.close()
    }

    @Test("a file that never takes the secret holds up no other program", .enabled(if: StalledFile.isPossible))
    @BusActor
    func retrieveSecret_stalledFile_holdsUpNobody() async throws {
        try await RunningService.withService { service in
            let portal = try service.bus.connect()
            _ = try portal.requestName("org.freedesktop.portal.Desktop")
            try await eventually("the backend") { try await portal.owner(of: SecretPortal.busName) != nil }
            let folder = try TemporaryFolder()
            let stalled = try StalledFile(in: folder.path)
            defer { stalled.end() }
            var transfers = stalled.transfers.makeAsyncIterator()
            let file = FileDescriptor(owning: open(stalled.path, O_WRONLY | O_CLOEXEC))
            let response = Task { @BusActor in try await retrieve("org.example.App", to: file, for: portal) }
            _ = await transfers.next()
            _ = try await service.client.searchItems(["a": "b"])
            try service.daemon.clock.pass(.seconds(2))
            #expect(try await response.value == 2)
        }
    }

    /// Starts the backend and a desktop portal that may call it.
    @BusActor
    private func portal(of service: ProviderInProcess) async throws -> Connection {
        let connection = try service.bus.connect()
        _ = try connection.requestName("org.freedesktop.portal.Desktop")
        let portal = SecretPortal(provider: service.provider, connection: service.connection, logger: service.logger)
        #expect(await portal.start())
        return connection
    }

    /// Asks for an application's secret and returns the response code.
    @BusActor
    private func retrieve(
        _ application: String,
        at handle: ObjectPath = Self.request,
        to file: FileDescriptor = FileDescriptor(owning: open("/dev/null", O_WRONLY | O_CLOEXEC)),
        for portal: Connection
    ) async throws -> UInt32 {
        let message = Message.call(
            to: SecretPortal.busName,
            Self.path,
            "org.freedesktop.impl.portal.Secret",
            "RetrieveSecret"
        )
        message.append(handle, application, file, [String: Variant]())
        return try await portal.call(message, timeout: Patience.limit).read(UInt32.self, [String: Variant].self).0
    }
}
