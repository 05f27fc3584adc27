import CLinux
import Glibc
import Rights

/// Where the password is that the daemon is started with.
///
/// Arguments and environment variables never hold a password, since other processes can read them.
enum StartPassword {
    /// The name of the credential that systemd may give it in (systemd.exec(5), "CREDENTIALS").
    static let credential = "keychaind.password"

    /// A descriptor to read it from: the command line's, or that of the credential; nil if there is neither.
    static func descriptor(_ options: Options) -> Int32? {
        if let descriptor = options.passwordDescriptor {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        }
        guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/") else {
            return nil
        }
        let descriptor = UserRights.perform {
            open("\(folder)/\(credential)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        }
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
