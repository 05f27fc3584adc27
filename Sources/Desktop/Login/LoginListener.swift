import CLinux
package import DBus
import Glibc
package import Logging

/// Listens for logins: PAM's module hands the password of each to a socket in the user's runtime folder (docs/pam.md).
@BusActor
package final class LoginListener {
    /// How many logins may be under way at a time.
    package nonisolated static let connectionLimit = 8

    /// For how long the start waits for what a login that has connected already will say.
    package nonisolated static let startTime = Duration.milliseconds(500)

    private enum State {
        case idle
        case listening(Int32)
        case closed
    }

    private let keychain: any LoginKeychain
    private let requestTime: Duration
    private let logger: Logger
    private var connections: [ObjectIdentifier: LoginConnection] = [:]
    private var state = State.idle

    /// Creates a listener for whoever has the keychains.
    ///
    /// - Parameter requestTime: for how long a connection may say nothing.
    package init(keychain: any LoginKeychain, requestTime: Duration = .seconds(2), logger: Logger) {
        self.keychain = keychain
        self.requestTime = requestTime
        self.logger = logger
    }

    /// Takes over a listening socket, of sequential packets, and takes the logins that wait there and those that come.
    ///
    /// When this returns, the passwords of those who were there first are being tried: nobody is told meanwhile that a keychain is
    /// locked.
    package func start(on descriptor: Int32) async {
        guard case .idle = state else { return }
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        state = .listening(descriptor)
        BusActor.loop.watchReadable(descriptor) { [weak self] in self?.acceptAll() }
        acceptAll()
        for connection in connections.values where connection.isSilent {
            await waitForFirstRequest(on: connection)
        }
    }

    /// Ends all of it.
    package func close() {
        if case .listening(let descriptor) = state {
            BusActor.loop.unwatch(descriptor)
            Glibc.close(descriptor)
        }
        state = .closed
        for connection in connections.values { connection.close() }
    }

    private func acceptAll() {
        guard case .listening(let descriptor) = state else { return }
        // Bounded, so that whoever connects again and again does not keep the loop from others.
        for _ in 0..<Self.connectionLimit {
            let accepted = keychaind_accept(descriptor)
            guard accepted >= 0 else { return }
            accept(accepted)
        }
    }

    private func accept(_ accepted: Int32) {
        guard let peer = LoginPeer(of: accepted) else {
            logger.warning("Another user is refused at the socket for logins")
            Glibc.close(accepted)
            return
        }
        guard connections.count < Self.connectionLimit else {
            logger.warning("There are too many logins at once")
            Glibc.close(accepted)
            return
        }
        let connection = LoginConnection(
            accepted,
            peer: peer,
            keychain: keychain,
            requestTime: requestTime,
            logger: logger
        ) {
            [weak self] ended in
            self?.connections[ObjectIdentifier(ended)] = nil
        }
        connections[ObjectIdentifier(connection)] = connection
        connection.start()
    }

    private func waitForFirstRequest(on connection: LoginConnection) async {
        await withCheckedContinuation { continuation in
            let waiter = LoginWaiter(continuation)
            let timer = BusActor.loop.schedule(after: Self.startTime) { waiter.finish() }
            connection.onFirstRequest {
                BusActor.loop.cancel(timer)
                waiter.finish()
            }
        }
    }
}
