import Foundation

/// The permission bits of files.
enum FileMode {
    static func of(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    /// Those of everything below a folder, by relative path.
    static func below(_ folder: String) -> [String: Int] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.reduce(into: [:]) { $0[$1] = of("\(folder)/\($1)") }
    }
}
