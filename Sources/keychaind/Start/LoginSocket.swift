import CKeychaindLinux
import Glibc

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
            throw Failure("its folder must be the user's, and writable by the user alone")
        }
    }

    private static func bind(_ descriptor: Int32, to path: String) throws(Failure) {
        guard let address = UnixAddress(path) else { throw Failure("its path is too long") }
        if address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 { return }
        guard errno == EADDRINUSE else { throw Failure() }
        guard try isAbandoned(address) else { throw Failure.isTaken }
        guard unlink(path) == 0, address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else { throw Failure() }
    }

    /// Whether no process has the socket at an address any more.
    ///
    /// A socket of another type is told so by the kernel, and makes no connection: to a socket of systemd, that would
    /// start the service. `/proc/net/unix` is no way to know, as any user can forge lines of it.
    private static func isAbandoned(_ address: UnixAddress) throws(Failure) -> Bool {
        let probe = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw Failure() }
        defer { close(probe) }
        guard address.withPointer({ connect(probe, $0, $1) }) != 0 else { return false }
        switch errno {
        case ECONNREFUSED: return true
        case EPROTOTYPE: return false
        default: throw Failure()
        }
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : nil
    }
}
