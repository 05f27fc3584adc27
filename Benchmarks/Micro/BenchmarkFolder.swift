import Glibc

/// A folder for a benchmark's files, on the disk that the working directory is on: a file system in memory has nothing to sync.
struct BenchmarkFolder {
    let path: String

    init() throws {
        path = "./keychaind-benchmark-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError(reason: "no folder could be made") }
    }

    /// Removes the folder and the files in it.
    func remove() {
        guard let listing = opendir(path) else { return }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in String(cString: text) }
            }
            unlink(path + "/" + name)
        }
        closedir(listing)
        rmdir(path)
    }
}

/// Why a benchmark could not run.
struct BenchmarkError: Error {
    let reason: String
}
