import Dispatch
import Glibc
import KeychaindCommandLine
import KeychaindFiles
import KeychaindLanguage
import SecretServiceClient

/// The listening socket of `keychainctl credential`; a socket that it made is removed on deinit.
final class CredentialSocket: Sendable {
    private let descriptor: Int32
    /// Nil if systemd passed the socket.
    private let path: String?

    /// Makes a socket that only its owner can connect to, or takes the one that systemd has passed.
    ///
    /// Throws ``ExitStatus/refused`` if the path is taken, or there is no socket.
    init(path: String?) throws(CommandFailure) {
        guard let path else {
            guard Self.variable("LISTEN_PID") == "\(getpid())", Self.variable("LISTEN_FDS") == "1" else {
                throw CommandFailure(.refused, "systemd has passed no socket; name one with --socket")
            }
            descriptor = 3
            self.path = nil
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return
        }
        // Set last: with all properties set, an error would end in the deinit, which removes the file.
        descriptor = try Self.listen(at: path)
        self.path = path
    }

    /// Listens at a path, in place of a socket whose program has ended; what is there otherwise is another program's.
    private static func listen(at path: String) throws(CommandFailure) -> Int32 {
        let address = try address(path)
        // Of two programs that start together, neither may take the other's new socket for an abandoned one.
        let folderPath = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        if flock(folder, LOCK_EX | LOCK_NB) == 0, isAbandoned(path, address) { unlink(path) }
        let made = newSocket()
        // The mode is that of the mask, also before a chmod could change it.
        let mask = umask(0o177)
        let isBound = call(bind, made, address)
        let problem = isBound && Glibc.listen(made, 16) == 0 ? 0 : errno
        umask(mask)
        guard problem == 0 else {
            close(made)
            if isBound { unlink(path) }
            let status: ExitStatus = problem == EADDRINUSE ? .refused : .inputOutput
            throw CommandFailure(status, "“\(path.visible)” cannot be a socket: \(String(cString: strerror(problem)))")
        }
        return made
    }

    /// Whether this user's socket is at a path, and no process listens at it.
    private static func isAbandoned(_ path: String, _ address: sockaddr_un) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            return false
        }
        let probe = newSocket()
        defer { close(probe) }
        return !call(connect, probe, address) && errno == ECONNREFUSED
    }

    private static func newSocket() -> Int32 {
        socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    }

    private static func address(_ path: String) throws(CommandFailure) -> sockaddr_un {
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            throw CommandFailure(.refused, "“\(path.visible)” is too long for a socket")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Calls bind(2) or connect(2).
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32,
        _ descriptor: Int32,
        _ address: sockaddr_un
    ) -> Bool {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                function(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    deinit {
        close(descriptor)
        if let path { unlink(path) }
    }

    /// The connections, until the task is cancelled.
    func connections() -> AsyncStream<CredentialConnection> {
        let (stream, continuation) = AsyncStream.makeStream(of: CredentialConnection.self)
        let source = ReadSource(descriptor) { [descriptor] in
            let accepted = accept(descriptor, nil, nil)
            guard accepted >= 0 else { return }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            continuation.yield(CredentialConnection(owning: accepted))
        }
        continuation.onTermination = { _ in source.cancel() }
        return stream
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Calls a handler whenever a descriptor is readable.
///
/// `@unchecked Sendable`: dispatch sources may be used by any thread, but do not say so.
private final class ReadSource: @unchecked Sendable {
    private let source: any DispatchSourceRead

    init(_ descriptor: Int32, _ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        source.setEventHandler(handler: handler)
        source.resume()
    }

    func cancel() { source.cancel() }
}

/// A connection of systemd, or of a program that says so.
final class CredentialConnection: Sendable {
    /// `UNIT/NAME`; nil if the other end is of another user, or has another name than systemd's.
    let request: String?

    private let descriptor: Int32
    private let process: Int32

    /// systemd's own limit.
    private static let limit = 1 << 20
    private static let patience = 5

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        // `struct ucred`, which glibc's headers hide from Swift: process, user and group.
        var credentials: [UInt32] = [0, 0, 0]
        var size = socklen_t(12)
        let isKnown = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 && size == 12
        process = isKnown ? Int32(bitPattern: credentials[0]) : 0
        request = isKnown && [0, getuid()].contains(credentials[1]) ? Self.request(of: descriptor) : nil
    }

    deinit {
        close(descriptor)
    }

    /// Reads the name of the other end: a NUL, a random number, `/unit/`, the unit, `/`, the credential (systemd.exec).
    private static func request(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getpeername(descriptor, pointer, &size) == 0
            }
        }
        let offset = MemoryLayout<sa_family_t>.size
        guard isNamed, Int(size) > offset else { return nil }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix(Int(size) - offset)) }
        guard bytes.first == 0, let name = String(validating: bytes.dropFirst(), as: UTF8.self) else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1] == "unit" else { return nil }
        return "\(parts[2])/\(parts[3])"
    }

    var description: Text {
        // Translators: a unit of systemd and its credential, or "an unnamed program"
        Text("\(request.map { Text(verbatim: $0.visible) } ?? Text("an unnamed program")) (process \(process))")
    }

    /// Writes the secret and closes its side; the other end has some seconds to read it.
    func send(_ secret: borrowing Secret) throws(CommandFailure) {
        guard secret.count <= Self.limit else {
            throw CommandFailure(.refused, "the secret is larger than a credential may be")
        }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try secret.withUnsafeBytes { (bytes) throws(CommandFailure) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = retryingInterrupted {
                    Glibc.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw CommandFailure(.inputOutput, "the other end did not read it") }
                rest = rest.dropFirst(count)
            }
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }
}
