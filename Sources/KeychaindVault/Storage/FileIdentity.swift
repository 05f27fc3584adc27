import CKeychaindLinux
import Glibc

/// The identity of an existing file, whatever its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil if there is no such file.
    init?(_ path: String, followingLinks: Bool = true) throws(VaultError) {
        guard let status = try Look.at(path, followingLinks: followingLinks) else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}
