/// A bus, a daemon on it, and a client with a plain session.
package final class RunningService: Sendable {
    package let bus: PrivateBus
    package let daemon: KeychainDaemon
    package let client: SecretServiceProxy

    /// For a run that does not limit how many tests run at a time, as `scripts/test` does.
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

    /// Starts a service for one test; only so many of these run at a time.
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

    /// Another client, which is another program to the service.
    package func makeClient() async throws -> SecretServiceProxy {
        try await SecretServiceProxy(on: bus)
    }
}
