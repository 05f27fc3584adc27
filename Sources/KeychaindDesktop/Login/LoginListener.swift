import CKeychaindLinux
import Glibc
package import KeychaindDBus
package import KeychaindGcrypt
package import Logging

/// Listens for logins: the PAM module sends passwords to a socket in the user's runtime folder (docs/pam.md).
@BusActor
package final class LoginListener {
    package nonisolated static let connectionLimit = 8

    /// The time for which the start waits for the first requests of connected logins.
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

    /// Creates a listener.
    ///
    /// - Parameter requestTime: the time limit of a connection for each request.
    package init(keychain: any LoginKeychain, requestTime: Duration = .seconds(2), logger: Logger) {
        self.keychain = keychain
        self.requestTime = requestTime
        self.logger = logger
    }

    /// Takes over a listening socket of sequential packets, and accepts the waiting and all later logins.
    ///
    /// Returns when the passwords of the waiting logins are being verified, so that no caller sees a keychain locked
    /// meanwhile.
    package func start(on descriptor: Int32) async {
        guard case .idle = state else { return }
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        state = .listening(descriptor)
        BusActor.loop.watchReadable(descriptor) { [weak self] in self?.acceptAll() }
        acceptAll()
        // One time for all: any program may connect, and say nothing.
        let deadline = Deadline(after: Self.startTime)
        for connection in connections.values where connection.isSilent {
            _ = await connection.firstRequest.wait(within: deadline.rest)
        }
    }

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
        // Bounded, so that a flood of connections does not starve the event loop.
        for _ in 0..<Self.connectionLimit {
            let accepted = keychaind_accept(descriptor)
            guard accepted >= 0 else { return }
            accept(accepted)
        }
    }

    private func accept(_ accepted: Int32) {
        guard let peer = LoginPeer(of: accepted) else {
            logger.warning("Refused a login from another user")
            Glibc.close(accepted)
            return
        }
        guard connections.count < Self.connectionLimit else {
            logger.warning("Refused a login: too many are connected")
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
}

/// The keychain that logins unlock, and whose password follows that of the account.
@BusActor
package protocol LoginKeychain: AnyObject {
    /// Tries a password, and returns when it is verified; callers that need the keychain wait meanwhile.
    func unlock(_ password: consuming SecureBytes, from peer: LoginPeer) async

    /// Replaces an old password, and returns when the new one is on disk.
    func change(
        _ password: consuming SecureBytes,
        to newPassword: consuming SecureBytes,
        from peer: LoginPeer
    ) async -> LoginReply
}

/// The peers that may send logins: root, as which PAM runs, and the owner of the keychains.
package enum LoginPeer: Equatable, Sendable {
    case root
    case user

    /// Identifies a peer; nil for any other user.
    init?(user: Int64, owner: uid_t) {
        switch user {
        case 0: self = .root
        case Int64(owner): self = .user
        default: return nil
        }
    }

    init?(of connection: Int32) {
        self.init(user: keychaind_peer_user(connection), owner: geteuid())
    }
}
