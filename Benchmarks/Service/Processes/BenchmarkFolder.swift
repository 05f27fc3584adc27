import Glibc

/// A folder for a benchmark's files, in the working directory: a file system in memory would have nothing to sync.
struct BenchmarkFolder: Sendable {
    /// The absolute path.
    let path: String

    /// Creates the folder.
    init() throws(BenchmarkError) {
        guard let working = realpath(".", nil) else {
            throw BenchmarkError(reason: "no working directory")
        }
        defer { free(working) }
        let name = "keychaind-benchmark-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        path = String(cString: working) + "/" + name
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError(reason: "cannot create the folder \(path)") }
    }

    /// Creates a subfolder and returns its path.
    func makeFolder(_ name: String) throws(BenchmarkError) -> String {
        let path = self.path + "/" + name
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError(reason: "cannot create the folder \(path)") }
        return path
    }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String) throws(BenchmarkError) -> String {
        let path = self.path + "/" + name
        guard let file = fopen(path, "w") else { throw BenchmarkError(reason: "cannot create the file \(path)") }
        fputs(text, file)
        fclose(file)
        return path
    }

    /// Removes the folder and its contents.
    func remove() {
        BenchmarkFolder.remove(path)
    }

    private static func remove(_ path: String) {
        // Files and links end here.
        guard unlink(path) != 0, let listing = opendir(path) else { return }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in String(cString: text) }
            }
            if name != "." && name != ".." { remove(path + "/" + name) }
        }
        closedir(listing)
        rmdir(path)
    }
}
