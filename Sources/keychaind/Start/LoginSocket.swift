import CKeychaindLinux
import Glibc
import KeychaindDBus

/// The socket that receives the passwords of logins: passed by systemd, or created here.
enum LoginSocket {
    /// The socket's name among the passed descriptors, set in `keychaind.socket`.
    static let name = "login"

    private static let queue: Int32 = 8

    /// The first listening `SOCK_SEQPACKET` socket; nil if there is none.
    static func usable(_ descriptors: [Int32]) -> Int32? {
        descriptors.first { descriptor in
            option(SO_ACCEPTCONN, of: descriptor) == 1
                && option(SO_TYPE, of: descriptor) == Int32(SOCK_SEQPACKET.rawValue)
                && option(SO_DOMAIN, of: descriptor) == AF_UNIX
        }
    }

    /// Listens at `keychaind/pam` in the user's runtime folder.
    ///
    /// Removes a socket without a listener, the leftover of another process.
    static func listen(in runtimeFolder: String) throws(Failure) -> Int32 {
        let folder = runtimeFolder + "/keychaind"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Failure() }
        try checkOwner(of: folder)
        return try listen(at: folder + "/pam")
    }

    /// Listens at `pam` in a folder of the domain, which only root and the group can enter.
    static func listen(inDomain folder: String, group: gid_t) throws(Failure) -> Int32 {
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw Failure() }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == 0, status.st_gid == group,
            status.st_mode & 0o007 == 0
        else { throw Failure("its folder must belong to root and the domain's group, and be closed to others") }
        return try listen(at: folder + "/pam")
    }

    private static func listen(at path: String) throws(Failure) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure() }
        do throws(Failure) {
            try bind(descriptor, to: path)
            guard Glibc.listen(descriptor, queue) == 0 else { throw Failure() }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The reason for a missing login socket.
    struct Failure: Error {
        let reason: String

        init() {
            reason = String(cString: strerror(errno))
        }

        init(_ reason: String) {
            self.reason = reason
        }

        static let isTaken = Failure("another process listens at the socket")
    }

    private static func checkOwner(of folder: String) throws(Failure) {
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw Failure() }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw Failure("its folder must be the user's, and writable by nobody else")
        }
    }

    private static func bind(_ descriptor: Int32, to path: String) throws(Failure) {
        guard let address = UnixAddress(path) else { throw Failure("its path is too long") }
        if address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 { return }
        guard errno == EADDRINUSE else { throw Failure() }
        // If systemd is the listener, a connection would start the service.
        guard !ListeningSockets.contain(path) else { throw Failure.isTaken }
        let probe = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw Failure() }
        defer { close(probe) }
        // The list omits listeners in other network namespaces.
        guard address.withPointer({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED else { throw Failure.isTaken }
        guard unlink(path) == 0, address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else { throw Failure() }
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : nil
    }
}

/// The activation socket in the domain: connecting to it only starts keychaind.
///
/// The password arrives through the domain's socket, since any program can listen at this one's path.
@BusActor
enum WakeSocket {
    /// The maximum number of connections to close at once.
    private static let limit = 8

    /// Accepts and closes every connection, for the lifetime of the process.
    static func serve(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        BusActor.loop.watchReadable(descriptor) { closeAll(descriptor) }
        closeAll(descriptor)
    }

    private static func closeAll(_ descriptor: Int32) {
        for _ in 0..<limit {
            let connection = keychaind_accept(descriptor)
            guard connection >= 0 else { return }
            close(connection)
        }
    }
}

/// The listening path sockets of this network namespace (proc_net(5)).
enum ListeningSockets {
    /// Whether the file at a path is one of them, without connecting to it.
    static func contain(_ path: String) -> Bool {
        guard let file = identity(of: path) else { return false }
        return paths.contains { identity(of: $0) == file }
    }

    private static var paths: [String] {
        guard let list = fopen("/proc/net/unix", "re") else { return [] }
        defer { fclose(list) }
        var paths: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, list) >= 0 {
            guard let line, let path = path(ofListening: String(cString: line)) else { continue }
            paths.append(path)
        }
        return paths
    }

    /// The path, the last of eight fields, if the flags mark a listening socket.
    static func path(ofListening line: String) -> String? {
        let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
        guard fields.count == 8, fields[3] == "00010000", fields[7].hasPrefix("/") else { return nil }
        return String(fields[7].drop(while: { $0 == " " }).prefix { $0 != "\n" })
    }

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }
}

/// A socket address: a path or an abstract name.
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// Creates an address; nil if the name is empty or too long.
    ///
    /// A leading `@` stands for the NUL of an abstract address.
    init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if bytes[0] == UInt8(ascii: "@") { path[0] = 0 }
        }
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
