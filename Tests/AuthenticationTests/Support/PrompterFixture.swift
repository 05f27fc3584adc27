import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Logging

/// A bus with a fake prompter, and the prompter under test.
@BusActor
final class PrompterFixture {
    let bus: PrivateBus
    let fake: FakePrompter
    let connection: Connection
    let prompter: GCRPrompter

    private init(_ bus: PrivateBus, _ fake: FakePrompter, _ connection: Connection, _ timeouts: (Duration, Duration)) {
        self.bus = bus
        self.fake = fake
        self.connection = connection
        prompter = GCRPrompter(connection: connection, logger: .silent, timeout: timeouts.0, callTimeout: timeouts.1)
    }

    /// Runs a test with a fixture.
    ///
    /// - Parameters:
    ///   - timeout: the time limit of a question; longer than a test unless tested.
    ///   - callTimeout: the time limit of a call of the prompter.
    nonisolated static func run(
        greeting: PromptGreeting = .ready,
        _ responses: [PromptResponse],
        timeout: Duration = .seconds(300),
        callTimeout: Duration = .seconds(300),
        _ body: @BusActor (PrompterFixture) async throws -> Void
    ) async throws {
        try await run(on: PrivateBus(), greeting, responses, (timeout, callTimeout), body)
    }

    private static func run(
        on bus: PrivateBus,
        _ greeting: PromptGreeting,
        _ responses: [PromptResponse],
        _ timeouts: (Duration, Duration),
        _ body: @BusActor (PrompterFixture) async throws -> Void
    ) async throws {
        let fake = try FakePrompter(on: bus, greeting: greeting, responses)
        let connection = try bus.connect()
        defer {
            fake.crash()
            connection.close()
        }
        try await body(PrompterFixture(bus, fake, connection, timeouts))
    }
}
