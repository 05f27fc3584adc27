import CKeychaindLinux
import Glibc

/// The identity of an existing file, whatever its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil if there is no such file.
    init?(_ path: String, followingLinks: Bool = true) throws(VaultError) {
        guard let status = try Look.at(path, followingLinks: followingLinks) else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        device = status.st_dev
        number = status.st_ino
    }
}

/// A file and its last change; a program that writes into the file leaves another stamp.
struct FileStamp: Equatable {
    let identity: FileIdentity
    private let size: off_t
    private let seconds: time_t
    private let nanoseconds: Int

    /// Follows links; nil if there is no such file.
    init?(_ path: String) throws(VaultError) {
        guard let status = try Look.at(path, followingLinks: true) else { return nil }
        identity = FileIdentity(status)
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
