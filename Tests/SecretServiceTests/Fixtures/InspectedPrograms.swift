import Glibc
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Synchronization

/// Says which programs connections are of, in the order in which these make their first calls.
final class InspectedPrograms: Sendable {
    private let names: Mutex<[String]>

    /// - Parameter names: the programs; the last one is that of all further connections.
    init(_ names: [String]) {
        self.names = Mutex(names)
    }

    var inspection: CallerInspector.Inspection {
        { [self] _ in
            let name = names.withLock { names in names.count > 1 ? names.removeFirst() : names[0] }
            return .process(
                CallerProcess(
                    id: getpid(),
                    startTime: ProcessFolder("self", in: "/proc").processStatus?.startTime ?? 0,
                    unit: SystemdUnit(name: "app-\(name)-1.scope", isUsers: true)
                )
            )
        }
    }

    /// Connects a program that calls the service, and waits until the service knows it.
    @BusActor
    func connect(to bus: PrivateBus) async throws -> SecretServiceProxy {
        let client = try SecretServiceProxy(on: bus)
        _ = try await client.openPlainSession()
        // A context is made, or refused, for a known caller.
        _ = try? await ContextClient(client).call("Invalidate")
        return client
    }
}
