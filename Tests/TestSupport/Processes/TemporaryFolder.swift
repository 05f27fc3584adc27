import Foundation

/// A folder of its own that goes with this object.
package final class TemporaryFolder: Sendable {
    /// Without a slash at the end.
    package let path: String

    /// Makes the folder, with access for nobody else.
    package init() throws {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        // Short: the path of a socket has at most 107 bytes.
        path = "\(base)/keychain-test-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        Leftovers.add(folder: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Leftovers.remove(folder: path)
    }

    /// The path of something in the folder.
    package func path(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Makes a folder in the folder.
    package func makeFolder(_ name: String) throws -> String {
        let path = path(name)
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return path
    }

    /// Writes a file in the folder.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }
}
