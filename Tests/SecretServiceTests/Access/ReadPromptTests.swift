import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Reads of locked items by programs that do not know Unlock, with `ask-at-read`.
struct ReadPromptTests {
    /// Runs a test with a daemon that asks at reads of these programs.
    private func run(
        _ programs: String = "\"*\"",
        _ responses: [PromptResponse] = [.answer("password")],
        _ environment: [String: String?] = [:],
        _ body: (RunningService, FakePrompter) async throws -> Void
    ) async throws {
        let folder = try ConfigurationFolder("[access]\nask-at-read = \(programs)\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment.merging(environment) { $1 }
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await body(service, prompter)
            await prompter.crash()
        }
    }

    @Test("GetSecret of a protected item waits for the dialog, and grants the item to its connection alone")
    func getSecret_protected_asksAndGrants() async throws {
        try await run { service, prompter in
            let (client, other) = (service.client, try await service.makeClient())
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == 1)
            #expect(try await !client.isItemLocked(item))
            #expect(try await other.isItemLocked(item))
        }
    }

    @Test("GetSecret in a locked keychain asks for its password")
    func getSecret_lockedKeychain_asks() async throws {
        try await run { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(secret: "secret", session: session)
            _ = try await client.lock([.login])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == 1)
            #expect(try await !client.isCollectionLocked(.login))
        }
    }

    @Test("GetSecrets asks for one item, and leaves out locked ones among several")
    func getSecrets_asksForOneItem() async throws {
        try await run { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createProtectedItem(session: session)
            let mail = try await client.createProtectedItem("Mail", ["service": "mail"], session: session)
            #expect(try await client.secrets(of: [bank, mail], session: session).isEmpty)
            #expect(prompter.questions.count == 0)
            #expect(try await client.secrets(of: [bank], session: session)[bank]?.value == Array("secret".utf8))
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("a program that is not named gets IsLocked, as without the setting", arguments: ["[\"seahorse\"]", "[]"])
    func getSecret_otherProgram_isRefused(programs: String) async throws {
        try await run(programs) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(prompter.questions.count == 0)
        }
    }

    @Test("after a refusal, further reads of the connection fail without a dialog")
    func getSecret_refused_pauses() async throws {
        try await run("\"*\"", [.cancel, .answer("password")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createProtectedItem(session: session)
            let mail = try await client.createProtectedItem("Mail", ["service": "mail"], session: session)
            for item in [bank, bank, mail] {
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            }
            #expect(prompter.questions.count == 1)
            #expect(try await service.unlock([bank], as: client).paths == [bank.rawValue])
        }
    }

    @Test("a flood of reads shows one dialog for an item, and sixteen items wait at most")
    func reads_flood_isBounded() async throws {
        try await run("\"*\"", [.answer("password")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let reads = (0..<500).map { _ in Task { try await client.secretText(of: item, session: session) } }
            for read in reads { #expect(try await read.value == "secret") }
            #expect(prompter.questions.count == 1)
        }
        try await run("\"*\"", [.hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            for number in 0..<20 {
                items.append(try await client.createProtectedItem("\(number)", ["n": "\(number)"], session: session))
            }
            let refusals = Recorder<BusError>()
            let reads = items.map { item in
                Task {
                    do throws(BusError) {
                        _ = try await client.secret(of: item, session: session)
                    } catch {
                        refusals.record(error)
                    }
                }
            }
            _ = try await prompter.questions.first("the question")
            try await eventually("the refusals of four reads") { refusals.count == 4 }
            try await client.roundTrip()
            #expect(refusals.all.allSatisfy { $0 == .isLocked } && prompter.questions.count == 1)
            await client.disconnect()
            for read in reads { await read.value }
        }
    }

    @Test("a client that leaves takes the dialog of its read away")
    func client_leaves_closesTheDialog() async throws {
        try await run("\"*\"", [.hang, .answer("password")]) { service, prompter in
            let hog = try await service.makeClient()
            let session = try await hog.openPlainSession()
            let item = try await hog.createProtectedItem(session: session)
            let read = Task { try? await hog.secret(of: item, session: session) }
            _ = try await prompter.questions.first("the question")
            await hog.disconnect()
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(await read.value == nil)
            let own = try await service.client.openPlainSession()
            #expect(try await service.client.secretText(of: item, session: own) == "secret")
        }
    }

    @Test("a session that is closed during the dialog gets no secret")
    func session_closedDuringTheDialog_givesNothing() async throws {
        try await run("\"*\"", [.hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let read = Task { try await client.secret(of: item, session: session) }
            _ = try await prompter.questions.first("the question")
            try await client.closeSession(session)
            await prompter.crash()
            await #expect(throws: BusError.noSession) { try await read.value }
        }
    }

    @Test("the screen lock ends the dialog, and reads behind it show none")
    func screenLock_endsTheRead() async throws {
        let logind = try await FakeLogind()
        try await logind.setDisplay(logind.session)
        try await run("\"*\"", [.hang, .answer("password")], logind.environment) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let read = Task { try await client.secret(of: item, session: session) }
            _ = try await prompter.questions.first("the question")
            try await logind.setLockedHint(true)
            await #expect(throws: BusError.isLocked) { try await read.value }
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(prompter.questions.count == 1)
            try await logind.setLockedHint(false)
            // The signal and the call come over different buses.
            try await eventually("the unlocked screen") {
                try await !client.property("SessionLocked", of: .service, "org.keychaind.Status1")
            }
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("libsecret's load_secret, which does not unlock, gets the secret of a protected item")
    func libsecret_loadsAProtectedItem() async throws {
        let python = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().lastPathComponent
        try await run("[\"\(python)\"]") { service, prompter in
            let session = try await service.client.openPlainSession()
            _ = try await service.client.createProtectedItem(session: session)
            let result = try await Command.python(
                """
                import gi
                gi.require_version('Secret', '1')
                from gi.repository import Secret
                service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION, None)
                item, = service.search_sync(None, {'service': 'bank'}, Secret.SearchFlags.ALL, None)
                assert item.get_locked()
                assert item.load_secret_sync(None)
                assert item.get_secret().get_text() == 'secret'
                """,
                environment: service.daemon.environment
            )
            #expect(result.succeeded, "\(result.errors)")
            #expect(prompter.questions.count == 1)
        }
    }

    @Test(
        "libsecret's synchronous search, which keeps what it read before its unlock, gets the attributes of an item",
        arguments: [true, false]
    )
    func libsecret_searchesNeverUnlocked(isNamed: Bool) async throws {
        let python = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().lastPathComponent
        try await runNeverUnlocked("[\"\(isNamed ? python : "seahorse")\"]") { service, prompter, _ in
            let result = try await Command.python(
                """
                import gi
                gi.require_version('Secret', '1')
                from gi.repository import Secret
                service = Secret.Service.get_sync(Secret.ServiceFlags.NONE, None)
                flags = Secret.SearchFlags.UNLOCK | Secret.SearchFlags.LOAD_SECRETS
                item, = service.search_sync(None, {'server': 'x'}, flags, None)
                assert item.get_secret()
                assert item.get_attributes().get('user') == \(isNamed ? "'anna'" : "None")
                """,
                environment: service.daemon.environment
            )
            #expect(result.succeeded, "\(result.errors)")
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("docker's helper gets the user name from a keychain that was never unlocked, without a setting")
    func dockerHelper_neverUnlocked_getsTheCredential() async throws {
        let registry = "https://registry.example.com"
        let credential = #"{"ServerURL":"\#(registry)","Username":"anna","Secret":"one"}"#
        try await RunningService.withService { service in
            let environment = service.daemon.environment
            func helper(_ command: String, _ input: String) async throws -> CommandResult {
                let program = "/usr/bin/docker-credential-secretservice"
                return try await Command.run(program, [command], environment: environment, input: Array(input.utf8))
            }
            #expect(try await helper("store", credential).succeeded)
            try await service.daemon.restart(KeychainDaemon.Options(password: nil))
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            #expect(try await helper("get", registry).output.starts(with: credential.utf8))
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test("the properties of a never unlocked item ask only after a search that has found it")
    func getAll_neverUnlocked_asksAfterItsSearch() async throws {
        try await runNeverUnlocked { service, prompter, item in
            let client = service.client
            let interface = SecretServiceProxy.Interface.item
            let before = try await client.properties(of: item, interface)
            #expect(before["Label"] == .string("") && prompter.questions.count == 0)
            #expect(try await client.searchItems(["server": "x"]).locked == [item])
            #expect(try await client.properties(of: item, interface)["Label"] == .string("label"))
            #expect(prompter.questions.count == 1)
        }
    }

    /// Runs a test with an item of a keychain that was not unlocked since the start.
    private func runNeverUnlocked(
        _ programs: String = "\"*\"",
        _ body: (RunningService, FakePrompter, ObjectPath) async throws -> Void
    ) async throws {
        let folder = try ConfigurationFolder("[access]\nask-at-read = \(programs)\n")
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["server": "x", "user": "anna"], session: session)
            var options = KeychainDaemon.Options(password: nil)
            options.environment = folder.environment
            try await service.daemon.restart(options)
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            try await body(service, prompter, item)
            await prompter.crash()
        }
    }
}
