import Glibc

/// The minimum cost of storing data: 4 KiB appended to a file and synced.
final class SyncFloor {
    private let file: Int32
    private let page = [UInt8](repeating: 0x2a, count: 4096)

    /// Creates the file beside the provider's.
    init(in folder: BenchmarkFolder) throws(BenchmarkError) {
        file = open(folder.path + "/sync", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError(reason: "cannot create a file to sync") }
    }

    deinit { close(file) }

    /// Measures an append with its sync.
    func append() throws -> Duration {
        let start = ContinuousClock.now
        guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
            throw BenchmarkError(reason: "cannot write to the disk")
        }
        return ContinuousClock.now - start
    }
}
