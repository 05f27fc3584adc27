import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging

/// A listener on a private socket, and logins that connect to it.
@BusActor
final class LoginFixture {
    nonisolated let keychain = FakeKeychain()
    nonisolated let log = Recorder<LogRecorder.Line>()
    let listener: LoginListener
    private let path: String
    private let folder: TemporaryFolder
    private let descriptor: Int32

    /// - Parameter requestTime: the time limit of each request; long, so that a busy machine does not end one.
    init(requestTime: Duration = .seconds(120)) throws {
        folder = try TemporaryFolder()
        path = folder.path("pam")
        descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        listener = LoginListener(keychain: keychain, requestTime: requestTime, logger: Logger(recordingTo: log))
        guard Self.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 16) == 0 else {
            throw POSIXError(.EADDRINUSE)
        }
    }

    func start() async {
        await listener.start(on: descriptor)
    }

    func end() {
        keychain.finish()
        listener.close()
    }

    func connect() throws -> Login {
        let connection = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard Self.withAddress(path, { Foundation.connect(connection, $0, $1) }) == 0 else {
            throw POSIXError(.ECONNREFUSED)
        }
        return Login(connection)
    }

    private static func withAddress<Result>(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// The other side of a login's connection.
final class Login: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    func send(_ bytes: [UInt8]) {
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Waits for the next packet on another thread; empty at the end of the connection.
    func receive() async -> [UInt8] {
        await BlockingThread.run { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(count, 0)))
        }
    }
}
