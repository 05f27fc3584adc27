import CKeychaindLinux
import Glibc

/// What distinguishes an existing file from all others, whatever its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Follows links; nil if there is no such file, or the disk does not say.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}
