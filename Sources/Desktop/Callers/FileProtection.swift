import Glibc

/// Judges whether only root can change a file; remembers the folders that it has looked at.
package struct FileProtection {
    private var folders: [Substring: Bool] = [:]

    /// Remembers nothing yet.
    package init() {}

    /// Whether a file and all folders above it are root's, and nobody else may change them.
    ///
    /// On a mount that ignores the set-uid bit nothing counts: what users can mount – by FUSE, or an image through udisks – is such a
    /// mount, and says of its files whatever its maker has written.
    package mutating func protects(_ path: String) -> Bool {
        guard path.hasPrefix("/"), isRootsAlone(path, isFolder: false), !FileProtection.ignoresSetUserID(path) else {
            return false
        }
        return path.lastIndex(of: "/").map { protectsFolder(path[..<$0]) } ?? false
    }

    /// Whether a deleted file was one that only root could have put into its folder.
    mutating func protectedDeleted(_ path: String) -> Bool {
        // Memory files look like files at the top: `/memfd:NAME`, `/SYSV00000000`, `/dev/zero`.
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
        let folder = path[..<slash]
        guard let status = ProcessFolder.status(at: String(folder)), status.st_mode & (S_IWGRP | S_IWOTH) == 0,
            !FileProtection.ignoresSetUserID(String(folder))
        else { return false }
        return protectsFolder(folder)
    }

    private mutating func protectsFolder(_ path: Substring) -> Bool {
        if let known = folders[path] { return known }
        let isProtected =
            isRootsAlone(path.isEmpty ? "/" : String(path), isFolder: true)
            && (path.lastIndex(of: "/").map { protectsFolder(path[..<$0]) } ?? true)
        folders[path] = isProtected
        return isProtected
    }

    /// In a folder like `/tmp`, others may add files but not replace one of root's.
    private func isRootsAlone(_ path: String, isFolder: Bool) -> Bool {
        guard let status = ProcessFolder.status(at: path), status.st_uid == 0 else { return false }
        return status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isFolder && status.st_mode & S_ISVTX != 0
    }

    private static func ignoresSetUserID(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) != 0 || status.f_flag & UInt(ST_NOSUID) != 0
    }
}
