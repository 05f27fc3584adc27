import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// keychaind: the provider of the session, or else one on a private bus with the user's keychains.
///
/// Before the switch another provider owns the name on the session bus, so keychaind serves its real data folder to
/// this import alone. It ends with the import; the keychaind of the session later finds the keychains.
struct TargetProvider: Sendable {
    let client: SecretClient
    /// Nil if keychaind is the session's provider, which asks for passwords in dialogs of its own.
    private let session: PrivateSession?

    var isPrivate: Bool { session != nil }

    /// The status of a keychaind whose folder is in use.
    private static let inUse: Int32 = 75

    static func open() async throws -> TargetProvider {
        if let client = try await SecretClient.connectToRunning(configuration(.session)) {
            if try await client.enforcesAccessControl() { return TargetProvider(client: client, session: nil) }
            client.close()
        }
        guard let program = InstalledProgram.keychaind else {
            throw CommandFailure(.notFound, "keychaind is not installed beside keychainctl, nor in PATH")
        }
        let session = try await PrivateSession.start(in: try PrivateFolder(roomFor: 0))
        do {
            return TargetProvider(client: try await start(program, in: session), session: session)
        } catch {
            await session.end()
            throw error
        }
    }

    private static func start(_ program: String, in session: PrivateSession) async throws -> SecretClient {
        var environment = ["XDG_RUNTIME_DIR": try session.folder.makeFolder("run")]
        var inherited = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DBUS_SYSTEM_BUS_ADDRESS"]
        #if DEBUG
        // Tests make hundreds of keys.
        inherited.append("KEYCHAIND_CHEAP_KEYS")
        #endif
        for name in inherited { environment[name] = DisplayEnvironment.variable(name) }
        let child = try await session.run(program, ["--prompters=none"], environment: environment)
        do throws(CommandFailure) {
            try await session.waitForProvider(child, "keychaind")
        } catch {
            throw await child.waitForExit(within: .milliseconds(1)) == inUse ? isRunning : error
        }
        // Answered once the keychains are open, or not at all if their folder is in use.
        if let client = try? await SecretClient.connect(configuration(session.bus)),
            (try? await client.collections()) != nil
        {
            return client
        }
        guard let status = await child.waitForExit(within: .seconds(5)) else {
            throw CommandFailure(.noProvider, "keychaind does not answer")
        }
        throw status == inUse ? isRunning : CommandFailure(.noProvider, "keychaind ended with status \(status)")
    }

    private static let isRunning = CommandFailure(
        .refused,
        "another keychaind uses your keychains, outside of this session; end it, or import in its session"
    )

    /// Ends a private keychaind, after its last change is on disk.
    func end() async {
        client.close()
        await session?.end()
    }

    private static func configuration(_ bus: SecretBus) -> SecretClient.Configuration {
        var configuration = SecretClient.Configuration(bus: bus)
        // Hundreds of changes wait for one disk.
        configuration.callTimeout = .seconds(120)
        return configuration
    }
}
