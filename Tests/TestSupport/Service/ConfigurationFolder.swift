import Foundation

/// A configuration folder with one file or none.
package struct ConfigurationFolder {
    private let folder: TemporaryFolder

    package init(_ text: String?) throws {
        folder = try TemporaryFolder()
        _ = try folder.makeFolder("keychaind")
        if let text { try folder.write(text, to: "keychaind/config.toml") }
    }

    package var path: String { folder.path("keychaind/config.toml") }

    package var environment: [String: String?] { ["XDG_CONFIG_HOME": folder.path] }

    /// Writes the file in place.
    package func write(_ text: String) throws {
        try folder.write(text, to: "keychaind/config.toml")
    }

    /// Replaces the file as editors do: by a rename.
    package func replaceByRename(_ text: String) throws {
        let other = try folder.write(text, to: "keychaind/config.toml.new")
        guard rename(other, path) == 0 else { throw POSIXError(.EIO) }
    }

    /// Replaces the file by something else than a file.
    package func replace(withFolder isFolder: Bool) throws {
        try? FileManager.default.removeItem(atPath: path)
        if isFolder {
            _ = try folder.makeFolder("keychaind/config.toml")
        } else {
            mkfifo(path, 0o600)
        }
    }
}
