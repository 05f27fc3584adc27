/// A private bus with a daemon and a client.
package final class RunningService: Sendable {
    package let bus: PrivateBus
    package let daemon: KeychainDaemon
    package let client: SecretServiceProxy

    /// Limits the services at a time, also without the limit of `scripts/test`.
    private static let turnstile = Turnstile(places: 6)

    /// Starts all three.
    package init(
        _ options: KeychainDaemon.Options = KeychainDaemon.Options(),
        services: [ActivatableService] = [],
        environment: [String: String?] = [:]
    ) async throws {
        bus = try await PrivateBus(services: services, environment: environment)
        daemon = try await KeychainDaemon(on: bus, options)
        client = try await SecretServiceProxy(on: bus)
    }

    /// Starts a service for one test, once a place is free.
    package static func withService<Result: Sendable>(
        _ options: KeychainDaemon.Options = KeychainDaemon.Options(),
        _ body: (RunningService) async throws -> Result
    ) async throws -> Result {
        await turnstile.enter()
        defer { turnstile.leave() }
        let service = try await RunningService(options)
        do {
            return try await body(service)
        } catch {
            let log = service.daemon.child.standardError.lines.all.suffix(40).joined(separator: "\n")
            throw DaemonError(reason: "\(error)", log: log)
        }
    }

    /// Connects another client, which is another program to the service.
    ///
    /// It has called: while the service looks at a new connection, others that have never called get no signals.
    package func makeClient() async throws -> SecretServiceProxy {
        let client = try await SecretServiceProxy(on: bus)
        try await client.roundTrip()
        return client
    }
}
