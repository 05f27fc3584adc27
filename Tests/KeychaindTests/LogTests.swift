import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Log entries that other programs can cause.
@Suite struct LogTests {
    @Test("a prompter's error with control characters is one line of plain text")
    func prompterError_withControlCharacters_isOnePlainLine() async throws {
        let service = try await RunningService()
        let prompter = try await makePrompter(
            on: service.bus,
            failing: "\u{1b}[2Jcleared\nkeychaind: error: forged\u{202e}" + String(repeating: "x", count: 100_000)
        )
        try await service.client.lock([SecretServiceProxy.defaultAlias])
        #expect(
            try await service.client.complete(service.client.unlock([SecretServiceProxy.defaultAlias]).prompt)
                .isDismissed
        )
        let line = try await service.daemon.child.standardError.lines.first("the line of the error") {
            $0.contains("cleared")
        }
        #expect(line.contains("forged"))
        #expect(line.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
        #expect(line.utf8.count < 10_000)
        await prompter.close()
        try await service.daemon.stop()
    }

    @Test("a start without a runtime folder logs that logins cannot unlock")
    func start_withoutARuntimeFolder_saysThatLoginsCannotUnlock() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await launch.start(on: bus, environment: ["XDG_RUNTIME_DIR": nil])
        _ = try await process.standardError.lines.first("the notice") {
            $0.contains("Logins cannot unlock") && $0.contains("XDG_RUNTIME_DIR")
        }
        #expect(try await process.terminate() == .success)
    }

    /// Takes the prompter's name and fails every call with a message.
    @BusActor
    private func makePrompter(on bus: PrivateBus, failing message: String) throws -> Connection {
        let connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 10) { (_) throws(BusError) in
            throw BusError(.failed, message)
        }
        _ = try connection.requestName(FakePrompter.busName)
        return connection
    }
}
