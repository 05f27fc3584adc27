import DBus
import SecretServiceClient
import TestSupport

/// A provider that does what a test says with each call, right or wrong.
@BusActor
final class ScriptedProvider {
    /// Answers a call, or leaves it without an answer.
    typealias Script = @BusActor (MethodCall, ScriptedProvider) throws(BusError) -> Void

    /// The members that were called, in order.
    nonisolated let calls = Recorder<String>()
    nonisolated let bus: PrivateBus
    private let connection: Connection
    private let script: Script

    nonisolated static let session = ObjectPath(unchecked: "/org/freedesktop/secrets/session/s1")
    nonisolated static let item = "/org/freedesktop/secrets/collection/login/1"

    /// Starts a bus, and takes the name on it.
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

    /// Sends a signal to everybody.
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

    /// Answers `OpenSession` with a session that does not encrypt.
    static func plainSession(_ call: MethodCall) throws(BusError) {
        guard try call.arguments(String.self, Variant.self).0 == "plain" else {
            throw BusError(.notSupported, "only plain")
        }
        call.reply(with: Variant.string(""), ScriptedProvider.session)
    }

    private struct Target: ObjectTarget {
        let provider: ScriptedProvider

        func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
            provider.calls.record(call.member)
            try provider.script(call, provider)
            return .suspending {
                // What the script has not answered waits until the test ends.
                await BusActor.loop.wait(for: .seconds(60))
            }
        }
    }
}
