import Foundation
import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// The library leaves its host alone.
struct ProcessTests {
    @Test(
        "The library leaves its process alone",
        arguments: ["round-trip", "signals", "fork", "gcrypt", "descriptors"]
    )
    func process_isLeftAsItIs(probe: String) async throws {
        let result = try await run(probe, environment: [:])
        #expect(result.text == "ok\n" && result.succeeded, "\(result.text) \(result.errors)")
    }

    @Test("A refused unencrypted secret does not stay in memory")
    func refusedSecret_isOverwritten() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            guard call.member == "SetSecret" else { return try ScriptedProvider.plainSession(call) }
            throw BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked"), "")
        }
        let result = try await Command.run(
            ProcessTests.executable,
            ["refused-secret"],
            environment: provider.bus.environment
        )
        #expect(result.text == "ok\n", "\(result.text) \(result.errors)")
    }

    @Test("An unencrypted credential does not stay in memory")
    func credential_isOverwritten() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            switch call.member {
            case "CreateContext": call.reply(with: ObjectPath(unchecked: "/org/keychaind/Authentication/context/1"))
            case "SetCredential": call.reply()
            case "OpenSession": try ScriptedProvider.plainSession(call)
            default: break
            }
        }
        let result = try await Command.run(
            ProcessTests.executable,
            ["credential"],
            environment: provider.bus.environment
        )
        #expect(result.text == "ok\n", "\(result.text) \(result.errors)")
    }

    @Test("Without DBUS_SESSION_BUS_ADDRESS, the socket in the runtime folder is used")
    func session_noAddress_isInTheRuntimeFolder() async throws {
        let link = try TemporaryFolder()
        let service = try await RunningService()
        let socket = String(service.bus.address.dropFirst("unix:path=".count).prefix { $0 != "," })
        try FileManager.default.createSymbolicLink(atPath: link.path("bus"), withDestinationPath: socket)
        let environment: [String: String?] = ["DBUS_SESSION_BUS_ADDRESS": nil, "XDG_RUNTIME_DIR": link.path]
        let result = try await run("round-trip", on: service, environment: environment)
        #expect(result.text == "ok\n", "\(result.errors)")
    }

    @Test("Without a bus, none is started")
    func session_noBus_isBusUnavailable() async throws {
        let environment: [String: String?] = ["DBUS_SESSION_BUS_ADDRESS": nil, "XDG_RUNTIME_DIR": nil]
        let result = try await run("round-trip", environment: environment)
        #expect(result.text.hasPrefix("busUnavailable"))
    }

    private static var executable: String { KeychainDaemon.product("KeychaindSecretServiceClientProbe") }

    private func run(
        _ probe: String,
        on service: RunningService? = nil,
        environment: [String: String?]
    ) async throws -> CommandResult {
        let started = if let service { service } else { try await RunningService() }
        return try await Command.run(
            ProcessTests.executable,
            [probe],
            environment: started.bus.environment.merging(environment) { $1 }
        )
    }
}
