import DBus

/// Gives memory back when the daemon rests after it had much to do: freed heap stays with a process otherwise, and so does code that
/// was needed once.
///
/// Much is a thousand calls, as when another keychain is imported, or one large one. Who asks for a secret now and then is not slowed down by it.
@BusActor
final class RestingMemory {
    private static let rest = Duration.milliseconds(500)

    private let server: ObjectServer
    private var isWaiting = false

    /// Watches a server, which holds on to this.
    static func watch(_ server: ObjectServer) {
        let memory = RestingMemory(server)
        server.afterMuchWork = { memory.waitForRest() }
    }

    private init(_ server: ObjectServer) {
        self.server = server
    }

    private func waitForRest() {
        guard !isWaiting else { return }
        isWaiting = true
        let calls = server.callCount
        BusActor.loop.schedule(after: RestingMemory.rest) { [self] in
            isWaiting = false
            if server.callCount == calls { StartupMemory.release() } else { waitForRest() }
        }
    }
}
