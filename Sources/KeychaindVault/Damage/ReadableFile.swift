import CKeychaindLinux
import Glibc

/// A file that is open for reading; what the disk does not return is read again, since its failure may pass.
final class ReadableFile {
    private static let attempts = 3

    private let descriptor: CInt
    // A disk that fails again and again does not recover: for each page, that would take minutes.
    private var patience = 30
    /// Whether the disk has not returned something: then what seems to be missing may be there.
    private(set) var hasFailed = false

    /// Nil with an error number.
    init?(_ path: String) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Nil unless it is a regular file.
    var size: off_t? {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status.st_size : nil
    }

    /// Reads bytes; those behind the end of the file are zero.
    ///
    /// Nil if the file ends before them, or the disk does not return them.
    func read(count: Int, at place: off_t) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        var failures = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, place + off_t(filled))
            }
            if read == 0 { break }
            if read > 0 {
                filled += read
            } else if errno != EINTR {
                failures += 1
                guard failures < Self.attempts, patience > 0 else {
                    hasFailed = true
                    return nil
                }
                patience -= 1
                usleep(20_000)
            }
        }
        return filled > 0 ? bytes : nil
    }
}
