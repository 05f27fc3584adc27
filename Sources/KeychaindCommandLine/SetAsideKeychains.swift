import Glibc

/// Folders with keychains of other accounts that had the number of this user (docs/domain.md).
package enum SetAsideKeychains {
    /// The paths of the folders, which only root can enter; none without a domain.
    package static var folders: [String] {
        let system = "/var/lib/keychaind"
        guard let listing = opendir(system) else { return [] }
        defer { closedir(listing) }
        var folders: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix("\(getuid()).set-aside.") { folders.append("\(system)/\(name)") }
        }
        return folders.sorted()
    }
}
