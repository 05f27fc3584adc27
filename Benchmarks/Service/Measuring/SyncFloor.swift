import BenchmarkSupport
import Glibc

/// The least that keeping something costs: 4 KiB appended to a file and brought to the disk.
final class SyncFloor {
    private let file: Int32
    private let page = [UInt8](repeating: 0x2a, count: 4096)

    /// Makes the file beside the provider's.
    init(in folder: BenchmarkFolder) throws(BenchmarkError) {
        file = open(folder.path + "/sync", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError(reason: "no file can be made to sync") }
    }

    deinit { close(file) }

    /// How long it takes.
    func append() throws -> Duration {
        let start = ContinuousClock.now
        guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
            throw BenchmarkError(reason: "the disk takes nothing")
        }
        return ContinuousClock.now - start
    }
}
