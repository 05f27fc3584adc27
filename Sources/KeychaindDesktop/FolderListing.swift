import Glibc

/// The names in a folder.
package enum FolderListing {
    /// Nil if the folder cannot be read, or has more entries than that.
    package static func names(in path: String, most: Int) -> [String]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            guard names.count < most else { return nil }
            names.append(name)
        }
        return names
    }
}
