import Glibc

/// A folder for a benchmark's files, on the disk that the working directory is on: a file system in memory has nothing to sync.
package struct BenchmarkFolder: Sendable {
    /// The absolute path.
    package let path: String

    /// Makes the folder.
    package init() throws(BenchmarkError) {
        guard let working = realpath(".", nil) else { throw BenchmarkError(reason: "there is no working directory") }
        defer { free(working) }
        let name = "keychaind-benchmark-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        path = String(cString: working) + "/" + name
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError(reason: "no folder could be made at \(path)") }
    }

    /// Makes a folder in the folder, and gives its path.
    package func makeFolder(_ name: String) throws(BenchmarkError) -> String {
        let path = self.path + "/" + name
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError(reason: "no folder could be made at \(path)") }
        return path
    }

    /// Writes a file in the folder, and gives its path.
    package func write(_ text: String, to name: String) throws(BenchmarkError) -> String {
        let path = self.path + "/" + name
        guard let file = fopen(path, "w") else { throw BenchmarkError(reason: "no file could be made at \(path)") }
        fputs(text, file)
        fclose(file)
        return path
    }

    /// Removes the folder with all that is in it.
    package func remove() {
        BenchmarkFolder.remove(path)
    }

    private static func remove(_ path: String) {
        // What is not a folder, links among it, ends here.
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
