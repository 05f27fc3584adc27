import Glibc

/// The names in a folder, without `.` and `..`.
package enum FolderListing {
    /// The names, sorted; nil if the folder cannot be read, or has more names than that.
    package static func names(in path: String, most: Int = .max) -> [String]? {
        var names: [String] = []
        var isWhole = true
        let isRead = forEach(in: path) { name in
            isWhole = names.count < most
            if isWhole { names.append(name) }
            return isWhole
        }
        return isRead && isWhole ? names.sorted() : nil
    }

    /// Calls the closure with each name, in the order of the file system, until it returns false.
    ///
    /// Returns false if the folder cannot be read; `errno` has the reason.
    package static func forEach(in path: String, _ body: (String) -> Bool) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        while true {
            errno = 0
            guard let entry = readdir(folder) else { return errno == 0 }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !body(name) { return true }
        }
    }
}
