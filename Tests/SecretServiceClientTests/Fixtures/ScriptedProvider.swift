import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import SecretServiceClient

/// A provider that answers each call as a test says, right or wrong.
@BusActor
final class ScriptedProvider {
    /// Answers a call, or does not.
    typealias Script = @BusActor (MethodCall, ScriptedProvider) throws(BusError) -> Void

    /// The called members, in order.
    nonisolated let calls = Recorder<String>()
    nonisolated let bus: PrivateBus
    private let connection: Connection
    private let script: Script

    nonisolated static let session = ObjectPath(unchecked: "/org/freedesktop/secrets/session/s1")
    nonisolated static let item = "/org/freedesktop/secrets/collection/login/1"

    /// Starts a bus, and owns the name on it.
    init(_ script: @escaping Script) async throws {
        bus = try await PrivateBus()
        self.script = script
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 100) { [weak self] (_) throws(BusError) in
            guard let self else { throw BusError(.failed, "the test has ended") }
            return Target(provider: self)
        }
        guard try connection.requestName(KeychainDaemon.busName) == .owner else {
            throw BusError(.failed, "the bus has a provider already")
        }
    }

    isolated deinit {
        connection.close()
    }

    /// A client of this provider.
    func makeClient(
        _ configure: (inout SecretClient.Configuration) -> Void = { _ in }
    ) async throws -> SecretClient {
        var configuration = SecretClient.Configuration(bus: .address(bus.address))
        configuration.connectTimeout = Patience.limit
        configuration.callTimeout = Patience.limit
        configure(&configuration)
        return try await SecretClient.connect(configuration)
    }

    /// Broadcasts a signal.
    func emit(_ path: ObjectPath, _ interface: String, _ member: String, _ argument: ObjectPath) {
        let signal = Message.signal(path, interface, member)
        signal.append(argument)
        connection.send(signal)
    }

    /// Completes the prompt that was called.
    func complete(_ call: MethodCall, _ result: Variant) {
        let signal = Message.signal(
            ObjectPath(unchecked: call.path),
            "org.freedesktop.Secret.Prompt",
            "Completed",
            to: call.peer.name
        )
        signal.append(false, result)
        connection.send(signal)
    }

    /// Answers `OpenSession` with an unencrypted session.
    static func plainSession(_ call: MethodCall) throws(BusError) {
        guard try call.arguments(String.self, Variant.self).0 == "plain" else {
            throw BusError(.notSupported, "only plain")
        }
        call.reply(with: Variant.string(""), ScriptedProvider.session)
    }

    /// Answers `OpenSession` with a key by which the shared secret begins with a zero byte.
    static func sessionWithZero(_ call: MethodCall) throws(BusError) {
        guard case (_, .bytes(let key)) = try call.arguments(String.self, Variant.self) else {
            throw BusError(.invalidArguments, "no key")
        }
        do throws(GcryptError) {
            while true {
                let keys = try DiffieHellman(.oakley2)
                let shared = try key.bytes.span.withUnsafeBytes { (key) throws(GcryptError) in
                    try keys.sharedSecret(with: key)
                }
                guard shared.withUnsafeBytes({ $0.first == 0 }) else { continue }
                return call.reply(with: Variant.bytes(ByteArray(keys.publicKey)), ScriptedProvider.session)
            }
        } catch {
            throw BusError(.failed, error.reason)
        }
    }

    private struct Target: ObjectTarget {
        let provider: ScriptedProvider

        func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
            provider.calls.record(call.member)
            try provider.script(call, provider)
            return .suspending {
                // Unanswered calls wait until the end of the test.
                await BusActor.loop.wait(for: Patience.limit)
            }
        }
    }
}

extension Connection {
    /// Broadcasts that a foreign prompt unlocked an item, and waits until the bus has it.
    func completeFalsely(_ prompt: ObjectPath, _ item: ObjectPath) async throws(BusError) {
        let signal = Message.signal(prompt, "org.freedesktop.Secret.Prompt", "Completed")
        signal.append(false, Variant.objectPaths([item]))
        send(signal)
        _ = try await owner(of: "org.freedesktop.DBus")
        close()
    }
}
