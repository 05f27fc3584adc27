import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage

/// The way in which pam_kwallet opens the wallet of a login: the hash of the password through a pipe, and an
/// environment, which may be empty, through a socket.
enum KWalletLogin {
    /// The wallet that pam_kwallet opens, whichever is the default one.
    static let wallet = "kdewallet"

    private static let saltSize = 56
    private static let hashSize = 56
    private static let derivation = PBKDF2(hash: .sha512, iterations: 50_000)

    /// The first free descriptor of the program.
    private static let first: Int32 = 3

    /// Starts the program with the hash of a password; without one if the wallet has no salt, as old ones have none.
    static func start(
        _ program: String,
        in session: PrivateSession,
        _ environment: [String: String],
        password: Password?
    ) async throws(CommandFailure) -> ChildProcess {
        guard let password, let salt = readSalt("\(session.folder.path)/data/kwalletd/\(wallet).salt") else {
            return try await session.run(program, [], environment: environment)
        }
        let hashPipe = try await makePipe(password, salt)
        defer { close(hashPipe) }
        let path = "\(session.folder.path)/kwallet"
        let listener = try listen(at: path)
        defer { close(listener) }
        let child = try await session.run(
            program,
            ["--pam-login", "\(first)", "\(first + 1)"],
            environment: environment.merging(["PAM_KWALLET5_LOGIN": path]) { $1 },
            descriptors: [-1, -1, -1, hashPipe, listener]
        )
        try connectAndClose(path)
        return child
    }

    private static func readSalt(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var salt = [UInt8](repeating: 0, count: saltSize)
        return read(file, &salt, saltSize) == saltSize ? salt : nil
    }

    /// The reading end of a pipe that holds the hash.
    private static func makePipe(_ password: Password, _ salt: [UInt8]) async throws(CommandFailure) -> Int32 {
        let result = await BlockingThread.run { () -> Result<Int32, CommandFailure> in
            do throws(GcryptError) {
                let hash = try derivation.derive(password: password.bytes, salt: salt, count: hashSize)
                var ends: [Int32] = [-1, -1]
                guard pipe(&ends) == 0 else { return .failure(failure()) }
                // The hash fits into the pipe.
                let count = hash.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
                close(ends[1])
                guard count == hashSize else {
                    close(ends[0])
                    return .failure(failure())
                }
                return .success(ends[0])
            } catch {
                return .failure(CommandFailure(.failure, "the password cannot be hashed: \(error.reason)"))
            }
        }
        return try result.get()
    }

    private static func listen(at path: String) throws(CommandFailure) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        guard withAddress(path, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 1) == 0 else {
            close(descriptor)
            throw failure()
        }
        return descriptor
    }

    /// Ends the environment before its first variable: the program has its own already.
    private static func connectAndClose(_ path: String) throws(CommandFailure) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else { throw failure() }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isTooLong = withUnsafeMutableBytes(of: &address.sun_path) { target in
            guard path.utf8.count < target.count else { return true }
            target.copyBytes(from: path.utf8)
            return false
        }
        guard !isTooLong else { return -1 }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure() -> CommandFailure {
        CommandFailure(.failure, "KWallet cannot be started: \(String(cString: strerror(errno)))")
    }
}
